extension Filter {
    /// The directory that a top-level term confines the songs to, or nil. MPD reports it if it does not exist.
    public var requiredBase: [UInt8]? {
        switch self {
        case .base(let path): path
        case .and(let parts): parts.lazy.compactMap { if case .base(let path) = $0 { path } else { nil } }.first
        default: nil
        }
    }

    /// The same filter for a connection that has switched `strip_diacritics` on.
    public func strippingDiacritics() -> Filter {
        switch self {
        case .tag(let tag, let match): .tag(tag, match.strippingDiacritics())
        case .anyTag(let match): .anyTag(match.strippingDiacritics())
        case .uri(let match): .uri(match.strippingDiacritics())
        case .not(let filter): .not(filter.strippingDiacritics())
        case .and(let filters): .and(filters.map { $0.strippingDiacritics() })
        case .base, .modifiedSince, .addedSince, .audioFormat, .priority: self
        }
    }

    /// The same filter without needless structure: no conjunction directly inside another one or with a single part,
    /// and texts negated themselves instead of by a `not` around them.
    ///
    /// Source: MPD 0.24 `src/song/OptimizeFilter.cxx`.
    func simplified() -> Filter {
        switch self {
        case .and(let parts):
            var flat: [Filter] = []
            for part in parts {
                let part = part.simplified()
                if case .and(let inner) = part { flat += inner } else { flat.append(part) }
            }
            return flat.count == 1 ? flat[0] : .and(flat)
        case .not(let inner):
            switch inner.simplified() {
            case .tag(let tag, let match): return .tag(tag, match.negated())
            case .anyTag(let match): return .anyTag(match.negated())
            case .uri(let match): return .uri(match.negated())
            case let other: return .not(other)
            }
        default:
            return self
        }
    }
}

extension TextMatch {
    fileprivate func strippingDiacritics() -> TextMatch {
        var match = self
        match.stripsDiacritics = match.operator != .regex
        return match
    }

    fileprivate func negated() -> TextMatch {
        var match = self
        match.isNegated.toggle()
        return match
    }
}
