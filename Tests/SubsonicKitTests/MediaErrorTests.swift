import Testing

@testable import SubsonicKit

@Suite("Errors in place of media")
struct MediaErrorTests {
    @Test("An error is found whatever it is dressed as, and media is left alone")
    func table() {
        let json = #"{"subsonic-response":{"status":"failed","error":{"code":70,"message":"Song not found"}}}"#
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <subsonic-response xmlns="http://subsonic.org/restapi" status="failed" version="1.16.1">
            <error code="40" message="Wrong &quot;user&quot; &amp; &#112;assword"></error></subsonic-response>
            """
        let notFound = SubsonicError.server(ServerFailure(code: 70, message: "Song not found"))
        let wrong = SubsonicError.server(ServerFailure(code: 40, message: #"Wrong "user" & password"#))
        let table: [(String, Int, String, String, SubsonicError?)] = [
            ("flac", 200, "audio/flac", "fLaC\u{0}\u{0}", nil),
            ("range", 206, "audio/mpeg; charset=utf-8", "ID3", nil),
            ("no type", 200, "", "OggS", nil),
            ("nothing yet", 200, "audio/flac", "", nil),
            ("octets", 200, "application/octet-stream", "{ not json, but a file", nil),
            ("svg cover", 200, "image/svg+xml; charset=utf-8", "<?xml version='1.0'?><svg/>", nil),
            ("json", 200, "application/json; charset=utf-8", json, notFound),
            ("json with a mark", 200, "application/json", "\u{FEFF}\n " + json, notFound),
            ("json as audio", 200, "audio/flac", json, notFound),
            ("json without type", 200, "", json, notFound),
            ("json with status", 404, "application/json", json, notFound),
            ("cut json", 200, "application/json", String(json.prefix(60)), .decoding("JSON came in place of data")),
            (
                "ok json", 200, "application/json", #"{"subsonic-response":{"status":"ok"}}"#,
                .decoding("JSON came in place of data")
            ),
            ("xml", 200, "text/xml", xml, wrong),
            ("xml as audio", 200, "audio/flac", xml, wrong),
            ("other xml", 200, "application/xml", "<x/>", .decoding("application/xml came in place of data")),
            ("portal", 200, "text/html", "<!DOCTYPE HTML><html>", .decoding("A web page came in place of data")),
            ("portal as audio", 200, "audio/flac", "<html><body>", .decoding("A web page came in place of data")),
            ("404", 404, "text/html", "<html>", .http(status: 404, retryAfter: nil)),
            ("416", 416, "", "", .http(status: 416, retryAfter: nil)),
            ("204", 204, "", "", .http(status: 204, retryAfter: nil)),
            ("503", 503, "text/plain", "busy", .http(status: 503, retryAfter: nil)),
        ]
        for (name, status, type, start, expected) in table {
            let head = HTTPHead(status: status, headers: type.isEmpty ? [] : [("content-type", type)])
            let found = SubsonicAnswer.mediaError(head, start: Array(start.utf8))
            #expect(found == expected, "\(name)")
        }
    }

    @Test("XML in place of JSON still tells its error")
    func xmlAnswer() {
        let xml = #"<subsonic-response status="failed"><error message="no &lt;f&gt;" code="30"/></subsonic-response>"#
        let response = HTTPResponse.json(xml)
        #expect(throws: SubsonicError.server(ServerFailure(code: 30, message: "no <f>"))) {
            try SubsonicAnswer.envelope(response)
        }
    }

    @Test("Half entities and half elements are no trouble")
    func brokenXML() {
        for text in [
            "<subsonic-response status=\"failed\"><error",
            "<subsonic-response \"failed\"><error message=\"&#x110000;&;&\" code=\"x\"/>",
            "<subsonic-response \"failed\"<error code=",
        ] {
            for length in 0...text.utf8.count {
                let head = HTTPHead(status: 500, headers: [])
                _ = SubsonicAnswer.mediaError(head, start: Array(text.utf8.prefix(length)))
            }
        }
    }
}
