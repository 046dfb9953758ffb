// Everything that differs by operating system. Other code asks for an ability, never for a name:
// `test/tidy.test.ts` finds uses of `process.platform` outside of this room.

export interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
}

export interface ServiceRequest {
  /** Identifies the service among the user's: letters and digits. */
  readonly id: string;
  /** The project's root. */
  readonly root: string;
  readonly start: ProgramStart;
  /** The search path for programs that agents need. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** A user's service as its manager knows it. */
export interface UserService {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  /** Run in order once the file exists. */
  readonly enable: readonly ProgramStart[];
  /** Run before the file is removed. */
  readonly disable: readonly ProgramStart[];
  /** Exits with 0 if it is running. */
  readonly isRunning: ProgramStart;
  /** Makes the service outlive a logout. Null if the manager needs or has no such command. */
  readonly linger: { readonly command: string; readonly isOnFile: string } | null;
}

/** The system's facts about one process. */
export interface ProcessFacts {
  /** Different for two processes with the same id. */
  readonly startTime: string;
  /** It has ended, but its parent has not collected it yet. */
  readonly isZombie: boolean;
}

export interface SocketPlace {
  /** The repository's name: 16 letters and digits. */
  readonly name: string;
  /** The user's name and number. */
  readonly user: string;
  readonly userNumber: number;
  readonly temporaryFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Platform {
  readonly name: string;
  /** Programs can start in their own process group, which a signal reaches as a whole. */
  readonly hasProcessGroups: boolean;
  /** `/bin/sh` runs POSIX scripts. */
  readonly hasShell: boolean;
  /** `/proc` reports processes with their folders, sockets and control groups. */
  readonly hasProcFiles: boolean;
  readonly hasBubblewrap: boolean;
  /** A file's mode determines who may read and write it. */
  readonly hasFileModes: boolean;
  /** A system call reports the start time of any process. */
  readonly hasCheapStartTimes: boolean;
  /** Variables without which no program starts. */
  readonly essentialVariables: readonly string[];
  /** Options of `cp` that copy a tree with its times, and share blocks if the disk can. */
  readonly copyTreeOptions: readonly string[];
  /** File name extensions of programs, in the order in which they are tried. */
  programEndings(env: Readonly<Record<string, string | undefined>>): readonly string[];
  /** Starts a command line in the system's shell. */
  shellStart(command: string): ProgramStart;
  /** The address of a backend: a socket in a folder of the user, or a named pipe. */
  socketPath(place: SocketPlace): string;
  /** The address for agents, alone in its folder. Returns null if sockets are not files. */
  agentSocketPath(place: SocketPlace): string | null;
  /** Identifies the boot and the namespace in which process ids and start times are comparable. */
  bootName(): string;
  /** Returns null if the process does not exist. */
  processFacts(pid: number): ProcessFacts | null;
  /** The rules of the machine's administrator, in a folder that belongs to the system. */
  readonly policyPath: string;
  /** Keeps the machine awake until its standard input ends, which happens when its parent exits. */
  readonly awakeStart: ProgramStart;
  /**
   * Opens a web page in the user's browser. If the system supports it, the URL is passed on
   * standard input, because other users can read arguments.
   */
  openLink(url: string): ProgramStart & { readonly input: string };
  /**
   * The user number of the process at the other end of a loopback connection from port `from` to
   * port `to`. Returns null if the system does not report it.
   */
  connectionUser(from: number, to: number): number | null;
  /** A user service that runs a program. Returns null if the system has none. */
  userService(request: ServiceRequest): UserService | null;
  /** Shows a notification with its sound. Returns null if the system has no program for it. */
  notification(title: string, text: string): ProgramStart | null;
}
