import MPDProtocol
import Testing

/// What a session says about each of some lines, as words.
private func actions(_ lines: [String], in session: inout SessionState) -> [String] {
    lines.map { line in
        switch session.receive(line: bytes(line)) {
        case .execute: return "execute"
        case .executeList(let list):
            let lines = (0..<list.count).map { text(list[$0]) }
            return "\(list.sendsListOK ? "ok_list" : "list")(\(lines.joined(separator: ",")))"
        case .leaveIdle: return "leaveIdle"
        case .ignore: return "ignore"
        case .close: return "close"
        }
    }
}

private func actions(_ lines: String...) -> [String] {
    var session = SessionState()
    return actions(lines, in: &session)
}

@Suite struct SessionStateTests {
    @Test func singleCommands() {
        #expect(actions("ping", "status", "idle", "idle player") == Array(repeating: "execute", count: 4))
    }

    @Test func commandLists() {
        #expect(
            actions("command_list_begin", "ping", "play \"x", "command_list_end", "ping")
                == ["ignore", "ignore", "ignore", "list(ping,play \"x)", "execute"]
        )
        #expect(
            actions("command_list_ok_begin", "ping", "command_list_end") == ["ignore", "ignore", "ok_list(ping)"]
        )
        #expect(actions("command_list_begin", "command_list_end") == ["ignore", "list()"])
    }

    @Test func listWordsElsewhereAreCommands() {
        #expect(actions("command_list_end") == ["execute"])
        #expect(actions("command_list_begin x") == ["execute"])
        #expect(
            actions("command_list_begin", "command_list_ok_begin", "command_list_end x", "command_list_end")
                == ["ignore", "ignore", "ignore", "list(command_list_ok_begin,command_list_end x)"]
        )
    }

    @Test func idleInAListCloses() {
        #expect(actions("command_list_begin", "ping", "idle").last == "close")
        #expect(actions("command_list_begin", "noidle").last == "close")
        #expect(actions("command_list_ok_begin", "idle player", "command_list_end").last == "ok_list(idle player)")
        #expect(actions("command_list_ok_begin", "idle\tx", "command_list_end").last == "ok_list(idle\tx)")
        #expect(actions("command_list_begin", "idlex", "command_list_end").last == "list(idlex)")
    }

    @Test func aStrayNoidleIsIgnored() {
        #expect(actions("noidle", "noidle", "ping") == ["ignore", "ignore", "execute"])
    }

    @Test func idleEndsByNoidleOnly() {
        for line in ["ping", "idle", "command_list_begin", "noidle x"] {
            var session = SessionState()
            expectEqual(session.beginIdle(.all), nil)
            #expect(actions([line], in: &session) == ["close"])
        }
        var session = SessionState()
        expectEqual(session.beginIdle(.all), nil)
        #expect(actions(["noidle", "noidle", "ping"], in: &session) == ["leaveIdle", "ignore", "execute"])
    }

    @Test func anEventEndsIdle() {
        var session = SessionState()
        expectEqual(session.beginIdle([.player, .mixer]), nil)
        expectEqual(session.raise(.playlist), nil)
        expectEqual(session.raise([.mixer, .options]), .mixer)
        #expect(actions(["noidle", "ping"], in: &session) == ["ignore", "execute"])
        expectEqual(session.beginIdle(.all), [.playlist, .options])
    }

    @Test func theListLimitCountsEveryLineWithItsEnd() {
        // "ping" and its end are five bytes.
        for (limit, last) in [(10, "ignore"), (9, "close")] {
            var session = SessionState(maximumListSize: limit)
            #expect(actions(["command_list_begin", "ping", "ping"], in: &session).last == last)
        }
    }
}

@Suite struct IdleStateTests {
    @Test func pendingEventsAreReportedAtOnce() {
        var idle = IdleState()
        expectEqual(idle.raise([.player, .playlist]), nil)
        expectEqual(idle.begin(.player), .player)
        #expect(!idle.isWaiting)
        // What was not asked for stays.
        #expect(idle.pending == .playlist)
        expectEqual(idle.begin(.player), nil)
        #expect(idle.isWaiting)
        expectEqual(idle.raise(.playlist), nil)
        expectEqual(idle.raise(.player), .player)
        expectEqual(idle.begin(.all), .playlist)
        #expect(idle.pending == [])
    }

    @Test func severalChangesAreOneReport() {
        var idle = IdleState()
        for _ in 0..<3 { #expect(idle.raise(.mixer) == nil) }
        expectEqual(idle.begin(.all), .mixer)
        expectEqual(idle.begin(.all), nil)
    }

    @Test func cancelKeepsPendingEvents() {
        var idle = IdleState()
        _ = idle.raise(.update)
        expectEqual(idle.begin(.player), nil)
        expectEqual(idle.cancel(), true)
        expectEqual(idle.cancel(), false)
        expectEqual(idle.begin(.update), .update)
    }
}

@Suite struct SubsystemTests {
    @Test func namesInOrder() {
        #expect(
            Subsystems.all.names == [
                "database", "stored_playlist", "playlist", "player", "mixer", "output", "options", "sticker", "update",
                "subscription", "message", "neighbor", "mount", "partition",
            ]
        )
        #expect(([.player, .database] as Subsystems).names == ["database", "player"])
        for name in Subsystems.all.names { #expect(Subsystems(name: bytes(name))?.names == [name]) }
    }

    @Test func idleArguments() throws {
        #expect(try Subsystems(idleArguments: Arguments([] as [String])) == .all)
        #expect(try Subsystems(idleArguments: Arguments(["PLAYER", "player", "mixer"])) == [.player, .mixer])
        #expect(throws: argumentError("Unrecognized idle event: x")) {
            try Subsystems(idleArguments: Arguments(["player", "x"]))
        }
    }
}

@Suite struct PermissionsTests {
    @Test func lists() throws {
        #expect(try Permissions(list: "read") == .read)
        #expect(try Permissions(list: "read,add,player") == [.read, .add, .player])
        #expect(try Permissions(list: "") == [])
        #expect(try Permissions(list: "read,,admin,") == [.read, .admin])
        // Before 0.23 "control" included playback.
        #expect(try Permissions(list: "control") == [.control, .player])
        #expect(try Permissions(list: "read,add,player,control,admin") == .all)
    }

    @Test func unknownNames() {
        #expect(throws: Permissions.UnknownName(name: "write")) { try Permissions(list: "read,write") }
        #expect(throws: Permissions.UnknownName(name: " add")) { try Permissions(list: "read, add") }
    }
}
