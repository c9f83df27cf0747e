import Logging
import MPDProtocol
import Playback
import QueueEngine
import SubsonicKit

/// Everything that the configuration file and the environment decide; a value, of which `Server.reload` takes over another.
///
/// The defaults here are those of `Settings`, where each option is described.
struct Configuration: Sendable, Equatable {
    /// Where it was read from.
    var file = ""

    /// Where clients connect. Empty only before `Configuration.complete` has filled in the defaults.
    var addresses: [ListenAddress] = []
    /// Whether `addresses` are the default ones, of which one that cannot be bound is no error as long as another can.
    var usesDefaultAddresses = true
    /// Whether clients on the network are told of this server, and under which name; `%h` stands for the machine's.
    var isAnnounced = true
    var announcedName = "Music Player @ %h"
    /// TCP port of the addresses that name none.
    var port: UInt16 = 6600

    /// Passwords that clients may give, in order; the first that matches counts.
    var passwords: [PasswordRule] = []
    /// What a client may do without a password, or nil for MPD's rule: all if no password and no host has
    /// permissions, else nothing.
    var defaultPermissions: Permissions?
    /// What a client at a Unix socket may do without a password, or nil for the same as the others.
    var localPermissions: Permissions?
    /// What clients at these addresses may do without a password.
    var hostPermissions: [HostRule] = []

    /// Clients served at the same time, or nil for as many as the limit of open files allows.
    var maxConnections: Int?
    /// How long a client may be silent while it is not in `idle`, or nil for ever.
    var connectionTimeout: Duration? = .seconds(60)
    /// Bytes of one command list.
    var maxCommandListSize = 2048 * 1024
    /// Bytes of replies that a client has not read yet.
    var maxOutputBufferSize = 8192 * 1024
    /// Entries of the queue and of a stored playlist, or nil for no limit.
    var maxPlaylistLength: Int?

    var logLevel = LogLevel.notice
    var logDestination = LogDestination.standardError
    /// Folder of what must survive a restart: the store, and nothing that a server could tell again.
    var stateDirectory = ""
    /// The SQLite database of the store; in `stateDirectory` unless `state_file` says otherwise.
    var stateFile = ""
    /// Folder of what may be lost: library images, audio, covers.
    var cacheDirectory = ""
    /// Tags that clients can see.
    var metadataToUse = TagMask.standard

    var servers: [ServerConfiguration] = []
    /// Audio outputs in the order of `outputs`; never empty after `Configuration.complete`.
    var outputs: [OutputConfiguration] = []
    /// Whether outputs without a device run in real time; `timed "no"` in one of them ends it, for tests.
    var isTimed = true
    /// The LADSPA plugin that copies the sound to `fifo` and `file` outputs, or nil to look beside the executable.
    var tapLibrary: String?

    var queueMode = QueueMode.threeTier
    /// What starting an entry further down does to the entries before it.
    var jump = JumpMode.move
    /// Whether what played when the server ended is paused after the next start.
    var restorePaused = true
    /// Whether clients see stored playlists.
    var showsPlaylists = true
    /// Whether clients see and set stars.
    var showsFavorites = true
    /// Bytes that the files of songs may take.
    var cacheLimit: Int64 = 2048 << 20
    /// Pixels that the longer edge of covers is scaled to by the server; nil for covers as they are.
    var coverSize: Int? = 1000
    /// Whether `readcomments` tells lyrics.
    var showsLyrics = true
    /// Whether the server is told what is listened to.
    var scrobbles = true
    /// Whether the queue is kept at the server, and what comes from there; nil for neither.
    var playQueueSync: PlayQueueKeeper.Mode?
    /// Whether there are mixes among the stored playlists.
    var showsMixes = true
    /// Whether similar songs are added when the queue runs out.
    var playsOn = false
    /// Bytes that the files of covers of one server may take.
    var coverCacheLimit: Int64 = 512 << 20
    /// How long a song may stand for want of bytes until it is held; nil for ever.
    var starvationLimit: Duration? = .seconds(600)
    /// Whether a song is paused when its device goes away.
    var stopsWithoutDevice = false
    /// Whether the devices of the machine are outputs as well.
    var findsDevices = false
    /// The replay gain mode of the first start, and what goes into the gain.
    var replayGain = ReplayGainMode.off
    var loudness = LoudnessRules()
    /// Songs after the next one that are fetched early.
    var songsAhead = 1
    /// Time between two looks for changes of a server's library, or nil for none but those of `update`.
    var refreshInterval: Duration? = .seconds(300)
    /// Whether there is a folder of shelves beside the tree.
    var showsShelves = true
}

/// One place where clients connect.
enum ListenAddress: Sendable, Hashable {
    /// Every address of this machine, IPv6 and IPv4.
    case any(port: UInt16)
    /// A host name or an address without brackets.
    case host(String, port: UInt16)
    /// A Unix socket at this absolute path.
    case unix(path: String)
    /// A Unix socket in Linux's abstract namespace, without the `@`.
    case abstract(name: String)
}

/// A line `password "PASSWORD@PERMISSIONS"`.
struct PasswordRule: Sendable, Equatable {
    var password: Secret
    var permissions: Permissions
}

/// A line `host_permissions "HOST PERMISSIONS"`.
struct HostRule: Sendable, Equatable {
    /// A host name or an address, to be resolved at start.
    var host: String
    var permissions: Permissions
}

/// A line `header "NAME: VALUE"`.
struct HeaderLine: Sendable, Equatable {
    var name: String
    var value: Secret
}

/// A block `subsonic_server`.
struct ServerConfiguration: Sendable, Equatable {
    /// How a server wants to be told who we are.
    enum Authentication: String, Sendable, CaseIterable { case auto, token, apikey, password }

    /// Unique; the host of `url` when the block names none.
    var name = ""
    /// Absolute `http` or `https` URL without the final slash and without `/rest`.
    var url = ""
    /// Further addresses of the same server, in the same form and in the order in which they are tried.
    var alternatives: [String] = []
    var user = ""
    var password: SecretSource?
    var apiKey: SecretSource?
    var authentication = Authentication.auto
    /// Whether the password may go over the network unencrypted in the request's address (`p=`).
    var allowsPlainPassword = false
    /// Names or ids of the music folders to use; empty for all.
    var musicFolders: [String] = []
    /// What the server shall make of songs; nil for their files as they are.
    var transcoding: Transcoding?
    /// How long a song's first byte, and any later one, may take until it is asked for anew.
    var firstByteTimeout = Duration.seconds(20)
    var stallTimeout = Duration.seconds(10)
    /// A file with certificates to trust besides the system's.
    var certificateFile: String?
    /// Who we are for servers that ask for a certificate.
    var clientCertificate: String?
    var clientKey: String?
    var clientKeyPassword: SecretSource?
    /// What connections go through: an address, which may hold a password; empty for nothing; nil for what the
    /// environment says.
    var proxy: Secret?
    /// Further header lines of each request.
    var headers: [HeaderLine] = []
    /// File and line of the block, for messages.
    var place = Place(file: "")
}
