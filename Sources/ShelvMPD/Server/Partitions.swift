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
        defaultPartition.addDevices(devices)
        let names = Set(devices.map(\.name))
        for partition in partitions { partition.devicesAre(names) }
    }

    // MARK: What clients do

    /// Makes an empty partition without outputs.
    func makePartition(_ name: String) throws(ACK) {
        guard partition(named: name) == nil else { throw ACK(.exist, "name already exists") }
        guard partitions.count < Self.mostPartitions, let partitionFactory else {
            throw ACK(.unknown, "too many partitions")
        }
        do {
            add(try partitionFactory.make(name, songs))
        } catch {
            throw ACK(.system, "\(error)")
        }
        keepPlan(erasing: name)
        raise(.partition)
    }

    /// Removes a partition that nobody is in, and all that is saved of it.
    func deletePartition(_ partition: Partition) throws(ACK) {
        guard partition !== defaultPartition else { throw ACK(.unknown, "cannot delete the default partition") }
        guard !connections.values.contains(where: { $0.session.partition === partition }) else {
            throw ACK(.unknown, "partition still has clients")
        }
        guard partition.outputs.allSatisfy(\.isDummy) else { throw ACK(.unknown, "partition still has outputs") }
        partition.close()
        partitions.removeAll { $0 === partition }
        // Of outputs that are not configured at the moment.
        outputHomes = outputHomes.filter { $0.value != partition.name }
        keepPlan(erasing: partition.name)
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
    func moveOutput(_ name: String, to partition: Partition) throws(ACK) {
        if partition.output(named: name) != nil { return }
        for other in partitions {
            guard let index = other.output(named: name) else { continue }
            partition.receive(other.giveAway(index), volume: other.volume)
            outputHomes[name] = partition === defaultPartition ? nil : partition.name
            keepPlan()
            raise(.output)
            return
        }
        throw ACK(.noExist, "No such output")
    }

    /// Keeps which partitions there are and where the outputs belong. At once: the rest follows within a moment.
    /// - Parameter name: a partition of which nothing is to be left.
    private func keepPlan(erasing name: String? = nil) {
        guard let store = partitionFactory?.store else { return }
        let plan = PartitionPlan(names: partitions.dropFirst().map(\.name), homes: outputHomes)
        let core = core
        store.submit(
            "the partitions",
            { database throws(StoreError) in
                try plan.write(to: database)
                if let name { try QueueWriter.erase(name, from: database) }
            },
            whenDone: { result in
                guard case .failure = result else { return }
                // The disk may be full for a while.
                core.post { server in
                    _ = server.timers.schedule(at: .now.advanced(by: .seconds(10))) { $0.keepPlan() }
                }
            }
        )
    }
}
