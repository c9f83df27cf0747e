import Playback
import SubsonicKit
import Support
import Testing

@testable import ShelvMPD

/// How a server is that denies a song, by what it answers to something else.
struct ServerHealthTests {
    private static func error(_ code: Int, status: Int = 200) -> HTTPTestResponse {
        .json(
            #"{"subsonic-response":{"status":"failed","error":{"code":\#(code),"message":"No"}}}"#,
            status: status
        )
    }

    private static func health(_ response: HTTPTestResponse) async throws -> ServerHealth {
        let server = try #require(HTTPTestServer { _ in response })
        let transport = try CurlTransport()
        defer {
            transport.shutdown()
            server.stop()
        }
        let description = SubsonicServer(
            id: "id",
            name: "test",
            url: try ServerURL(server.url),
            credentials: Credentials(user: "u", password: "p")
        )
        return await MusicSource.health(of: SubsonicClient(description, transport: transport))
    }

    @Test func aServerThatAnswersIsWell() async throws {
        let response = HTTPTestResponse.json(#"{"subsonic-response":{"status":"ok","version":"1.16.1"}}"#)
        #expect(try await Self.health(response) == .well)
    }

    @Test func whoIsNotLetInIsToldSo() async throws {
        for response in [
            Self.error(40), Self.error(44), Self.error(50), Self.error(40, status: 401), HTTPTestResponse(status: 401),
            HTTPTestResponse(status: 403),
        ] {
            guard case .refuses(let words) = try await Self.health(response) else {
                Issue.record("\(response)")
                continue
            }
            #expect(!words.isEmpty)
        }
    }

    @Test func allElseIsTrouble() async throws {
        var dead = HTTPTestResponse()
        dead.stepsBefore = [.close]
        for response in [
            Self.error(0), HTTPTestResponse(), HTTPTestResponse(status: 404), HTTPTestResponse(status: 502),
            .html("<html>Bad gateway</html>"), dead,
        ] {
            #expect(try await Self.health(response) == .failing)
        }
    }
}
