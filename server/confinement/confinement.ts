// Confines agents, gates and setups: chooses the sandbox, lends each program a git folder, mounts
// what it needs, and imports its commits. If no sandbox works, that is always reported.

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { AgentDriver, AgentRequest, ProgramStart } from '../agents/port.ts';
import type { ShellRequest } from '../agents/kit/run/shell-command.ts';
import { err, failure, ok, type Result } from '../core/failure.ts';
import type { CommandOutcome } from '../core/work/command.ts';
import { agentSocketPath } from '../rpc/transport/address.ts';
import { prepareHome } from '../sandbox/agent-homes.ts';
import { ownSandboxArguments, setsOwnSandbox } from '../sandbox/own-switches.ts';
import { toolMounts } from '../sandbox/tool-folders.ts';
import {
  bwrapArguments,
  type Mount,
  resolveSettingPath,
  withCallFilter,
  writeCallFilter,
} from '../sandbox/walls.ts';
import { confinedNetwork, withNetworkGate } from './confined-network.ts';
import { worktreesFolder } from '../project/project-places.ts';
import { bwrapProgram, sandboxState, type SandboxState } from './sandbox-state.ts';
import { ownFolders } from '../project/own-program.ts';
import { MadeOnce } from '../core/made-once.ts';
import type { Project } from '../project/opened-project.ts';

/** The program that is about to run in the sandbox. */
interface Guest {
  /** Kind of agent, `gate` or `setup`. Each has its own home folder. */
  readonly home: string;
  readonly cwd: string;
  /** `read` for an agent that writes a plan and changes nothing. */
  readonly cwdMode: Mount['mode'];
  readonly runId: string;
  /** Files of Drover that it can see. */
  readonly files: readonly string[];
}

export class Confinement {
  readonly #project: Pick<Project, 'live' | 'places' | 'local'>;
  readonly #report: (error: unknown, where: string) => void;
  readonly agentSocket: string | null;
  readonly #drivers = new MadeOnce<AgentDriver, AgentDriver>();

  constructor(
    project: Pick<Project, 'live' | 'places' | 'local'>,
    report: (error: unknown, where: string) => void,
  ) {
    this.#project = project;
    this.#report = report;
    this.agentSocket = agentSocketPath(project.local.facts.commonDir, process.env);
  }

  state(): Promise<SandboxState> {
    const { live } = this.#project;
    return sandboxState(live.settings.sandbox, live.loaded.values['sandbox.mode'].source);
  }

  /** Wraps a driver so that its programs run in the sandbox. */
  driver(driver: AgentDriver): AgentDriver {
    return this.#drivers.of(driver, () => ({
      ...driver,
      run: async (request, host, signal) => {
        try {
          return await driver.run(await this.#confined(driver.kind, request), host, signal);
        } finally {
          await this.#takeBack(request.cwd);
        }
      },
      adopt: async (request, agent, host, signal) => {
        try {
          return await driver.adopt(request, agent, host, signal);
        } finally {
          await this.#takeBack(request.cwd);
        }
      },
    }));
  }

  async command(
    request: ShellRequest,
    run: (request: ShellRequest) => Promise<CommandOutcome>,
  ): Promise<CommandOutcome> {
    const home = request.env['DROVER_GATE'] === '1' ? 'gate' : 'setup';
    const { cwd, runId } = request;
    const guest: Guest = { home, cwd, cwdMode: 'write', runId, files: [] };
    try {
      return await run({ ...request, confine: (start) => this.#behindWalls(guest, start) });
    } finally {
      await this.#takeBack(request.cwd);
    }
  }

  /** Imports the work of programs that ended after their backend died. */
  async takeBackLeftovers(): Promise<void> {
    for (const path of this.#project.local.lent()) {
      if (!(await isAnyoneIn(path))) await this.#takeBack(path);
    }
  }

  async #confined(kind: string, request: AgentRequest): Promise<AgentRequest> {
    const state = await this.state();
    if (state.holds === 'nothing' && !state.refuses) return request;
    if (state.holds === 'agent')
      return { ...request, confine: async (start) => this.#heldByItself(kind, start) };
    const { tools, cwd, runId, readableFiles = [] } = request;
    const ofTools =
      tools === undefined
        ? []
        : [tools.configPath, tools.command, ...tools.args.filter((arg) => arg.startsWith('/'))];
    const files = [...ofTools, ...readableFiles];
    const cwdMode = request.planning === true ? 'read' : 'write';
    const guest: Guest = { home: kind, cwd, cwdMode, runId, files };
    return {
      ...request,
      confine: (start) => this.#behindWalls(guest, start),
      confinedHome: this.#homeOf(kind),
    };
  }

  #heldByItself(kind: string, start: ProgramStart): Result<ProgramStart> {
    const { network, write } = this.#project.live.settings.sandbox;
    const switches = ownSandboxArguments(kind, { network, write });
    if (switches === null) {
      const why = `${kind} does not have its own sandbox that refuses to start if it does not work`;
      return err(failure('setup_failed', `[sandbox] mode = "agent": ${why}. Use "bwrap".`));
    }
    if (setsOwnSandbox(start.args)) {
      const why = '[agent] args has --settings, which would replace the sandbox';
      return err(failure('setup_failed', `[sandbox] mode = "agent": ${why}. Remove it.`));
    }
    return ok({ ...start, args: [...start.args, ...switches] });
  }

  async #behindWalls(guest: Guest, start: ProgramStart): Promise<Result<ProgramStart>> {
    const state = await this.state();
    if (state.refuses) {
      return err(failure('setup_failed', `The sandbox does not work: ${state.message}.`));
    }
    if (state.holds !== 'bwrap') return ok(start);
    const program = bwrapProgram();
    const mounts = await this.#mounts(guest, start);
    if (!mounts.ok) return mounts;
    const network = confinedNetwork(guest.home, start.env, this.#project.live.settings.sandbox);
    const filter = writeCallFilter(join(this.#project.places.folder, 'sandbox'));
    const args = bwrapArguments({
      cwd: guest.cwd,
      mounts: mounts.value,
      network: network === 'open' ? 'open' : 'none',
      variables: variablesInside(start.env),
      filter,
    });
    const inside = [start.program, ...start.args];
    const walls = withCallFilter(filter, [program ?? 'bwrap', ...args]);
    const command =
      typeof network === 'string' ? [...walls, ...inside] : withNetworkGate(network, walls, inside);
    const [first = '', ...others] = command;
    return ok({ program: first, args: others, env: start.env });
  }

  async #mounts(guest: Guest, start: ProgramStart): Promise<Result<readonly Mount[]>> {
    const { live, places, local } = this.#project;
    const lent = await local.lend(guest.cwd);
    if (!lent.ok) return err(failure('git_failed', lent.error.message));
    const git = lent.value;
    const home = homeIn(start.env);
    const privateHome = this.#homeOf(guest.home);
    prepareHome(privateHome, guest.home, home, start.env['XDG_CONFIG_HOME'] || undefined);
    const tmp = join(places.folder, 'sandbox', 'tmp', basename(guest.cwd));
    rmSync(tmp, { recursive: true, force: true });
    mkdirSync(tmp, { recursive: true, mode: 0o700 });
    const socketFolder = this.agentSocket === null ? null : dirname(this.agentSocket);
    if (socketFolder !== null) mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
    const closed = [
      home,
      places.root,
      worktreesFolder(places.root, live.settings.worktreeRoot),
      tmpdir(),
      '/tmp',
    ];
    const tools = toolMounts({ ...start, home, closed });
    const { read, write } = live.settings.sandbox;
    const named = (paths: readonly string[], mode: Mount['mode']): Mount[] =>
      paths.flatMap((path) => same(resolveSettingPath(path, home, places.root), mode));
    return ok([
      { from: tmp, to: '/tmp', mode: 'write' },
      { from: privateHome, to: home, mode: 'write' },
      ...tools,
      ...ownPrograms(),
      ...guest.files.flatMap((file) => same(file, 'read')),
      ...same(socketFolder, 'read'),
      { from: git.folder, to: git.commonDir, mode: 'write' },
      // A separate mount for each, so that neither can be renamed and recreated.
      { from: join(git.folder, 'objects'), to: join(git.commonDir, 'objects'), mode: 'write' },
      {
        from: join(git.folder, 'objects', 'info'),
        to: join(git.commonDir, 'objects', 'info'),
        mode: 'read',
      },
      { from: git.gitDir, to: git.gitDir, mode: 'write' },
      ...git.fixedFiles.flatMap((name) => same(join(git.gitDir, name), 'read')),
      { from: git.hidden, to: git.hidden, mode: 'hide' },
      { from: git.objects, to: git.objectsAt, mode: 'read' },
      ...git.alternates.flatMap((path) => same(path, 'read')),
      ...same(git.largeFiles, 'write'),
      { from: guest.cwd, to: guest.cwd, mode: guest.cwdMode },
      ...same(join(guest.cwd, '.git'), 'read'),
      ...named(read, 'read'),
      ...named(write, 'write'),
    ]);
  }

  #homeOf(name: string): string {
    return join(this.#project.places.folder, 'sandbox', 'home', name);
  }

  async #takeBack(path: string): Promise<void> {
    const back = await this.#project.local.takeBack(path);
    if (!back.ok) this.#report(back.error, `undoing what was created in ${path}`);
  }
}

function same(path: string | null, mode: Mount['mode']): Mount[] {
  return path !== null && existsSync(path) ? [{ from: path, to: path, mode }] : [];
}

function homeIn(env: Readonly<Record<string, string>>): string {
  return env['HOME'] ?? homedir();
}

/** Drover's programs that agents start: bundled, or from the sources. */
function ownPrograms(): Mount[] {
  return [...ownFolders(), process.execPath].flatMap((path) => same(path, 'read'));
}

/** Sockets and folders of the user's session are hidden, so variables must not point to them. */
function variablesInside(env: Readonly<Record<string, string>>): Record<string, string | null> {
  const gone = [
    'XDG_RUNTIME_DIR',
    'SSH_AUTH_SOCK',
    'SSH_AGENT_PID',
    'GPG_AGENT_INFO',
    'DBUS_SESSION_BUS_ADDRESS',
    'DISPLAY',
    'WAYLAND_DISPLAY',
    'XAUTHORITY',
    'VSCODE_IPC_HOOK_CLI',
    'VSCODE_GIT_IPC_HANDLE',
    'CLAUDE_CONFIG_DIR',
    'CODEX_HOME',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'XDG_CACHE_HOME',
    'XDG_STATE_HOME',
    'CARGO_HOME',
    'GOPATH',
    'GOCACHE',
    'GOMODCACHE',
  ];
  const removed = gone.filter((name) => env[name] !== undefined).map((name) => [name, null]);
  return { ...Object.fromEntries(removed), TMPDIR: '/tmp' } as Record<string, string | null>;
}

/**
 * A confined process is recognized by its working folder, which it keeps open as long as it lives.
 */
async function isAnyoneIn(path: string): Promise<boolean> {
  const { readdirSync, readlinkSync } = await import('node:fs');
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const folder = readlinkSync(`/proc/${pid}/cwd`);
      if (folder === path || folder.startsWith(`${path}/`)) return true;
    } catch {
      // It has just ended, or belongs to another user.
    }
  }
  return false;
}
