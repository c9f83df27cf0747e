import Support
import Testing

@testable import ShelvMPD

/// Messages between clients.
@Suite struct ChannelTests {
    @Test func aMessageReachesAllSubscribersOnce() throws {
        let server = try TestServer()
        let (one, two, three) = (try server.client(), try server.client(), try server.client())
        for client in [one, two] { #expect(try client.ask("subscribe a.b") == ["OK"]) }
        #expect(try two.ask("subscribe \"c:d\"") == ["OK"])
        #expect(try three.ask("channels") == ["channel: a.b", "channel: c:d", "OK"])
        #expect(try three.ask("idle subscription") == ["changed: subscription", "OK"])
        two.send("idle message\n")
        #expect(try three.ask("sendmessage a.b \"x y\"") == ["OK"])
        #expect(try two.reply() == ["changed: message", "OK"])
        // Nothing is told again until the box has been emptied.
        two.send("idle message\n")
        #expect(try three.ask("sendmessage a.b z") == ["OK"])
        two.send("noidle\n")
        #expect(try two.reply() == ["OK"])
        for client in [one, two] {
            let all = ["channel: a.b", "message: x y", "channel: a.b", "message: z", "OK"]
            #expect(try client.ask("readmessages") == all)
            #expect(try client.ask("readmessages") == ["OK"])
        }
        #expect(try three.ask("readmessages") == ["OK"])
    }

    @Test func aFullBoxTakesNothingAndAClosedOneIsGone() throws {
        let server = try TestServer()
        let sender = try server.client()
        let nobody = ["ACK [50@0] {sendmessage} nobody is subscribed to this channel"]
        do {
            let client = try server.client()
            #expect(try client.ask("subscribe a") == ["OK"])
            for _ in 0..<Mailbox.mostMessages { #expect(try sender.ask("sendmessage a x") == ["OK"]) }
            #expect(try sender.ask("sendmessage a x") == nobody)
            #expect(try client.ask("readmessages").count == 2 * Mailbox.mostMessages + 1)
            #expect(try sender.ask("sendmessage a x") == ["OK"])
        }
        var isGone = false
        while !isGone { isGone = try sender.ask("channels") == ["OK"] }
        #expect(try sender.ask("sendmessage a x") == nobody)
    }

    @Test(arguments: [
        ("subscribe \"\"", "ACK [2@0] {subscribe} invalid channel name"),
        ("subscribe a/b", "ACK [2@0] {subscribe} invalid channel name"),
        ("subscribe ü", "ACK [2@0] {subscribe} invalid channel name"),
        ("subscribe taken", "ACK [56@0] {subscribe} already subscribed to this channel"),
        ("unsubscribe a", "ACK [50@0] {unsubscribe} not subscribed to this channel"),
        ("unsubscribe taken", "OK"),
        ("sendmessage \"a b\" x", "ACK [2@0] {sendmessage} invalid channel name"),
        ("sendmessage a x", "ACK [50@0] {sendmessage} nobody is subscribed to this channel"),
    ])
    func whatIsRefused(_ command: String, _ answer: String) throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.ask("subscribe taken") == ["OK"])
        #expect(try client.ask(command) == [answer])
        for number in 1..<Mailbox.mostChannels { #expect(try client.ask("subscribe c\(number)").count == 1) }
    }

    @Test func sixteenChannelsAreTheMost() throws {
        let server = try TestServer()
        let client = try server.client()
        for number in 0..<Mailbox.mostChannels { #expect(try client.ask("subscribe c\(number)") == ["OK"]) }
        #expect(try client.ask("subscribe c0") == ["ACK [56@0] {subscribe} subscription list is full"])
    }
}
