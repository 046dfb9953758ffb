// Everything that differs by operating system. Code elsewhere asks for an ability, never for a
// name: `test/tidy.test.ts` finds questions about `process.platform` outside of this room.

export interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
}

export interface ServiceRequest {
  /** Names the service among those of the user: letters and digits. */
  readonly id: string;
  /** The project's root. */
  readonly root: string;
  readonly start: ProgramStart;
  /** Programs that agents need are found by it. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** A service of the user, as its manager knows it. */
export interface UserService {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  /** Run one after the other once the file exists. */
  readonly enable: readonly ProgramStart[];
  /** Run before the file is removed. */
  readonly disable: readonly ProgramStart[];
  /** Ends with 0 while it runs. */
  readonly isRunning: ProgramStart;
  /**
   * Makes the service outlive a logout. Null for a manager that needs or knows no such command.
   */
  readonly linger: { readonly command: string; readonly isOnFile: string } | null;
}

/** The system's facts about one process. */
export interface ProcessFacts {
  /** Two processes with one id differ in it. */
  readonly startTime: string;
  /** Ended, but not yet collected by its parent. */
  readonly isZombie: boolean;
}

export interface SocketPlace {
  /** The repository's name: 16 letters and digits. */
  readonly name: string;
  /** The name and the number of the user. */
  readonly user: string;
  readonly userNumber: number;
  readonly temporaryFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Platform {
  readonly name: string;
  /** A program can start in a process group of its own, and a signal reaches the whole group. */
  readonly hasProcessGroups: boolean;
  /** `/bin/sh` runs POSIX scripts. */
  readonly hasShell: boolean;
  /** `/proc` reports processes with their folders, sockets and control groups. */
  readonly hasProcFiles: boolean;
  readonly hasBubblewrap: boolean;
  /** The mode of a file says who may read and write it. */
  readonly hasFileModes: boolean;
  /** A system call reports the start time of any process. */
  readonly hasCheapStartTimes: boolean;
  /** Variables without which no program starts. */
  readonly essentialVariables: readonly string[];
  /** Options of `cp` that copy a tree with its times, and share blocks if the disk can. */
  readonly copyTreeOptions: readonly string[];
  /** The endings of programs; the first is tried first. */
  programEndings(env: Readonly<Record<string, string | undefined>>): readonly string[];
  /** Starts a command line in the system's shell. */
  shellStart(command: string): ProgramStart;
  /** The address of a backend: a socket in a folder of the user's, or a named pipe. */
  socketPath(place: SocketPlace): string;
  /** The address for agents, alone in its folder. Returns null if sockets are not files. */
  agentSocketPath(place: SocketPlace): string | null;
  /** Names the boot and the namespace in which process ids and start times mean something. */
  bootName(): string;
  /** Returns null if the process does not exist. */
  processFacts(pid: number): ProcessFacts | null;
  /** The rules of the machine's administrator. Its folder belongs to the system. */
  readonly policyPath: string;
  /** Keeps the machine awake until its standard input ends, which it does with its parent. */
  readonly awakeStart: ProgramStart;
  /**
   * Opens a web page in the user's browser. If the system supports it, the address is the standard
   * input: other users can read arguments.
   */
  openLink(url: string): ProgramStart & { readonly input: string };
  /**
   * The user number of the process at the other end of a loopback connection, which has port
   * `from` and is connected to `to`. Returns null if the system does not report it.
   */
  connectionUser(from: number, to: number): number | null;
  /** A service of the user that runs a program. Returns null if the system has none. */
  userService(request: ServiceRequest): UserService | null;
  /** Shows a notification with its sound. Returns null if the system has no program for it. */
  notification(title: string, text: string): ProgramStart | null;
}
