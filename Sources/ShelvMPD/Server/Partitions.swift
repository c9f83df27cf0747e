import MPDProtocol
import Playback

/// The partitions: rooms with a queue and a player each, between which clients and outputs go.
extension Server {
    /// Source: `src/command/PartitionCommands.cxx` of MPD.
    private static let mostPartitions = 16

    /// The partition of this name.
    func partition(named name: String) -> Partition? { partitions.first { $0.name == name } }

    /// A certain partition, if it is still there.
    func partition(_ id: PartitionID) -> Partition? { partitions.first { $0.id == id } }

    /// Takes a partition in, behind those that there are.
    func add(_ partition: Partition) {
        partitions.append(partition)
        partition.libraryTrouble = libraryTrouble
        for equip in equipment { equip(partition) }
    }

    /// Gives something to each partition, also to those that are made later.
    func equipPartitions(_ equip: @escaping (Partition) -> Void) {
        equipment.append(equip)
        for partition in partitions { equip(partition) }
    }

    /// Takes in what the last run has left besides the default partition, and lets there be more.
    func open(_ partitions: [Partition], by factory: PartitionFactory, _ plan: PartitionPlan) {
        partitionFactory = factory
        outputHomes = plan.homes
        for partition in partitions { add(partition) }
    }

    /// Takes what a partition's player tells.
    func take(_ event: PlayerEvent, of id: PartitionID) {
        guard let partition = partition(id) else { return }
        guard case .devices(let devices) = event else { return partition.handle(event) }
        // All players look at the machine's devices, to go back to their own; one of them tells what there is.
        guard partition === defaultPartition else { return }
        defaultPartition.addDevices(devices)
        let names = Set(devices.map(\.name))
        for partition in partitions { partition.devicesAre(names) }
    }

    // MARK: What clients do

    /// Makes an empty partition without outputs.
    /// - Parameter whenKept: told once it cannot be lost any more, as by all that changes partitions.
    func makePartition(_ name: String, whenKept: @escaping Store.WhenDone) throws(ACK) {
        guard partition(named: name) == nil else { throw ACK(.exist, "name already exists") }
        guard partitions.count < Self.mostPartitions, let partitionFactory else {
            throw ACK(.unknown, "too many partitions")
        }
        do {
            add(try partitionFactory.make(name, songs))
        } catch {
            throw ACK(.system, "\(error)")
        }
        keepPlan(erasing: name, whenKept: whenKept)
        raise(.partition)
    }

    /// Removes a partition that nobody is in, and all that is saved of it.
    func deletePartition(_ partition: Partition, whenKept: @escaping Store.WhenDone) throws(ACK) {
        guard partition !== defaultPartition else { throw ACK(.unknown, "cannot delete the default partition") }
        guard !connections.values.contains(where: { $0.session.partition === partition }) else {
            throw ACK(.unknown, "partition still has clients")
        }
        guard partition.outputs.allSatisfy(\.isDummy) else { throw ACK(.unknown, "partition still has outputs") }
        partition.close()
        partitions.removeAll { $0 === partition }
        // Of outputs that are not configured at the moment.
        outputHomes = outputHomes.filter { $0.value != partition.name }
        keepPlan(erasing: partition.name, whenKept: whenKept)
        raise(.partition)
    }

    /// Moves a client to a partition. All of it is news to the client.
    func move(_ connection: Connection, to partition: Partition) {
        guard connection.session.partition !== partition else { return }
        releasePartition(of: connection)
        connection.session.partition = partition
        raise([.playlist, .player, .mixer, .output, .options], for: connection)
    }

    /// Moves an output to a partition, unless it is there.
    func moveOutput(_ name: String, to partition: Partition, whenKept: @escaping Store.WhenDone) throws(ACK) {
        if partition.output(named: name) != nil { return whenKept(.success(())) }
        for other in partitions {
            guard let index = other.output(named: name) else { continue }
            partition.receive(other.giveAway(index), volume: other.volume)
            outputHomes[name] = partition === defaultPartition ? nil : partition.name
            keepPlan(whenKept: whenKept)
            raise(.output)
            return
        }
        throw ACK(.noExist, "No such output")
    }

    /// Keeps which partitions there are, where the outputs belong and whether they are on, at once and together.
    /// - Parameters:
    ///   - name: a partition of which nothing is to be left of what was saved until now.
    ///   - whenKept: told once it cannot be lost any more, or that the store does not take it; that is tried again.
    private func keepPlan(erasing name: String? = nil, whenKept: @escaping Store.WhenDone) {
        guard let store = partitionFactory?.store else { return whenKept(.success(())) }
        if let name { overduePlan.erasures.insert(name) }
        let plan = PartitionPlan(names: partitions.dropFirst().map(\.name), homes: outputHomes)
        // Nothing is left of those anyway that are not in the plan.
        let erasures = overduePlan.erasures.intersection(plan.names)
        overduePlan.erasures = []
        let settings = partitions.compactMap { $0.saver?.settings() }
        let core = core
        store.submit(
            "the partitions",
            { database throws(StoreError) in
                try plan.write(to: database)
                for name in try QueueWriter.partitions(in: database) where !plan.has(name) || erasures.contains(name) {
                    try QueueWriter.erase(name, from: database)
                }
                for settings in settings {
                    // A new one may have been saved since the old one of that name was to be erased.
                    if erasures.contains(settings.writer.partition) { settings.writer.forget() }
                    try settings.writer.write(settings.values, to: database)
                }
            },
            whenDone: { result in
                if case .failure = result {
                    for settings in settings { settings.writer.forget() }
                    core.post { $0.keepPlanLater(erasing: erasures, after: store.retryDelay) }
                } else if !erasures.isEmpty {
                    core.post { server in
                        for name in erasures { server.partition(named: name)?.saver?.noteChange() }
                    }
                }
                whenKept(result)
            }
        )
    }

    /// The disk may be full for a while.
    private func keepPlanLater(erasing names: Set<String>, after delay: Duration) {
        overduePlan.erasures.formUnion(names)
        guard !overduePlan.isScheduled else { return }
        overduePlan.isScheduled = true
        _ = timers.schedule(at: .now.advanced(by: delay)) { server in
            server.overduePlan.isScheduled = false
            server.keepPlan { _ in }
        }
    }
}

/// What is to be tried again of a change of the partitions that the store did not take.
struct OverduePlan {
    /// Partitions that there are again, or still: nothing is to be left of what was saved under their names.
    var erasures: Set<String> = []
    var isScheduled = false
}
