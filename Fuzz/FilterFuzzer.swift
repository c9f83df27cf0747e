// A libFuzzer target, compiled together with Sources/MPDProtocol by Scripts/fuzz.

/// Takes the lines of an input for filter arguments, and what can be read for one that must survive its normal form.
@c(LLVMFuzzerTestOneInput)
public func fuzzFilters(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    let newline = UInt8(ascii: "\n")
    let arguments = Arguments(input.split(separator: newline, omittingEmptySubsequences: false).map { Array($0) })
    let clauses: FilterParser.Clauses = [.position, .window, .sort, .queueSort, .group]
    if let parsed = try? FilterParser.parse(arguments, clauses: clauses, foldsCase: true) {
        _ = parsed.filter.expression
    }
    if let parsed = try? FilterParser.parse(arguments, clauses: clauses, foldsCase: false) { check(parsed.filter) }
    if let query = try? ListQuery(arguments) { check(query.filter) }
    return 0
}

private func check(_ filter: Filter) {
    let expression = filter.expression
    // Old-style pairs have no limits of their own, so not all of them fit an expression.
    guard let again = try? FilterParser.parse(Arguments([expression]), foldsCase: false).filter else { return }
    precondition(again.expression == expression, "the normal form is not stable")
}
