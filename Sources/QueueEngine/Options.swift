extension Queue {
    /// Switches the shuffled order on or off. Nothing when it is so already. While stopped, switching it on forgets the
    /// current entry, as in MPD.
    public mutating func setRandom(_ isOn: Bool) -> Outcome {
        var step = Step()
        if options.random != isOn {
            options.random = isOn
            switch (isThreeTier, isOn) {
            case (true, true): shuffleOn(&step)
            case (true, false): shuffleOff(&step)
            case (false, true): hideOrder()
            case (false, false): hiddenOrder = nil
            }
            nextLap = nil
            step.changes.insert(.options)
        }
        return finish(step)
    }

    /// Switches `repeat`. Nothing when it is so already.
    public mutating func setRepeat(_ isOn: Bool) -> Outcome {
        var step = Step()
        if options.repeat != isOn {
            options.repeat = isOn
            step.changes.insert(.options)
        }
        return finish(step)
    }

    /// Sets `single`. Nothing when it is so already.
    public mutating func setSingle(_ mode: OneShotMode) -> Outcome {
        var step = Step()
        if options.single != mode {
            options.single = mode
            step.changes.insert(.options)
        }
        return finish(step)
    }

    /// Sets `consume`. Nothing when it is so already.
    public mutating func setConsume(_ mode: OneShotMode) -> Outcome {
        var step = Step()
        if options.consume != mode {
            options.consume = mode
            step.changes.insert(.options)
        }
        return finish(step)
    }
}
