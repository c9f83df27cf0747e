import Glibc
import Support
import Testing

@testable import ShelvMPD

#if SHELV_FUZZING
    import CFuzzer
#endif

/// The corpus of each target in `Fixtures/fuzz`, and inputs near it: whatever comes from outside traps nowhere.
///
/// `Scripts/fuzz` builds this with the sanitizers and lets libFuzzer look for more.
@Suite struct FuzzTests {
    @Test(arguments: FuzzTarget.allCases)
    func theCorpusAndWhatIsNearIt(target: FuzzTarget) throws {
        let folder = PackageFolder.path("Fixtures/fuzz/\(target.rawValue)")
        let corpus = try CorpusFolder.names(folder).map { try Files.read("\(folder)/\($0)", limit: 1 << 20) }
        #expect(!corpus.isEmpty)
        let changes = unsafe getenv("SHELV_SOAK") == nil ? 10 : 1000
        var random = SeededNumbers(seed: SeededNumbers.seed(usually: 1))
        for input in corpus {
            target.read(input)
            for _ in 0..<changes { target.read(Self.changed(input, corpus, &random)) }
        }
    }

    /// An input like another one: bytes changed, left out, doubled, or the end of a third one.
    private static func changed(_ input: [UInt8], _ corpus: [[UInt8]], _ random: inout SeededNumbers) -> [UInt8] {
        var input = input
        for _ in 0...Int(random.next() % 3) where !input.isEmpty {
            let place = Int(random.next() % UInt64(input.count))
            let end = min(input.count, place + Int(random.next() % 16))
            switch random.next() % 5 {
            case 0: input[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: input[place] ^= 1 << UInt8(random.next() % 8)
            case 2: input.removeSubrange(place..<end)
            case 3: input.insert(contentsOf: input[place..<end], at: place)
            default:
                let other = corpus[Int(random.next() % UInt64(corpus.count))]
                input.replaceSubrange(place..., with: other.suffix(Int(random.next() % UInt64(other.count + 1))))
            }
        }
        return input
    }

    #if SHELV_FUZZING
        /// Gives the process to libFuzzer, which ends it. Its arguments stand in `SHELV_FUZZ_ARGUMENTS`, divided by spaces. When it
        /// starts itself again, it gives the first of them to a shell.
        @Test(.enabled(if: fuzzedTarget != nil))
        func guidedByCoverage() {
            let words = unsafe getenv("SHELV_FUZZ_ARGUMENTS").map { unsafe String(cString: $0) } ?? ""
            let texts = ["Scripts/fuzz run"] + words.split(separator: " ").map(String.init)
            var arguments = unsafe texts.map { unsafe strdup($0) } + [nil]
            unsafe arguments.withUnsafeMutableBufferPointer { buffer in
                var count = CInt(texts.count)
                var pointer = buffer.baseAddress
                _ = unsafe LLVMFuzzerRunDriver(&count, &pointer, fuzzOne)
            }
        }
    #endif
}

#if SHELV_FUZZING
    private let fuzzedTarget = unsafe getenv("SHELV_FUZZ_TARGET").flatMap {
        FuzzTarget(rawValue: unsafe String(cString: $0))
    }

    private func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        fuzzedTarget?.read(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }
#endif

private enum CorpusFolder {
    /// The files of a folder, in order, so that the same ones come with the same random numbers.
    static func names(_ folder: String) throws -> [String] {
        guard let directory = unsafe opendir(folder) else { throw SystemError("opendir \(folder)", code: errno) }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
