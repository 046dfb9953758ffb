// The network between a test's machines: a bridge with its own address, and for each machine a
// network and process namespace, like separate hosts. None of them has a route out of this
// computer.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isProcessAlive, processesOf } from '../../e2e/support/processes.ts';

export interface Host {
  /** The address that servers see. */
  readonly address: string;
  /** The address at which it reaches the servers. */
  readonly serverAddress: string;
  /** The words before a program's own that start it on this host. */
  readonly enter: () => readonly string[];
  /** Kills every process of this host at once, like a power cut. */
  readonly kill: () => Promise<void>;
  /** From now on, packets are lost in both directions, without an error. */
  readonly cutOff: () => void;
  readonly reconnect: () => void;
  /** The same for traffic to one port; plain processes lose everything. */
  readonly cutOffFrom: (port: number) => void;
  readonly reconnectTo: (port: number) => void;
  /** Processes that are alive on it, as this computer's pids. */
  readonly processes: () => readonly number[];
}

export interface Network {
  /**
   * Real: hosts have their own addresses. Otherwise, they are processes on loopback, and `reason`
   * says why.
   */
  readonly kind: 'namespaces' | 'processes';
  readonly reason: string;
  /** The address of the database and the git server, and the addresses that reach them. */
  readonly address: string;
  readonly clients: string;
  /** All addresses at which hosts reach the servers. */
  readonly serverAddresses: readonly string[];
  /** `mark`: `NAME=value`, which is in the environment of all its processes. */
  readonly addHost: (name: string, mark: string) => Promise<Host>;
  readonly close: () => Promise<void>;
}

const subnetsMax = 200;
const plainHostsMax = 6;

export async function makeNetwork(isPlain = false): Promise<Network> {
  const reason = isPlain ? 'as the test wants' : whyNoNamespaces();
  if (reason === null) return namespaces();
  console.log(`hosts are plain processes on the loopback here: ${reason}`);
  return plainProcesses(reason);
}

/** Returns null if they can be created here. */
export function whyNoNamespaces(): string | null {
  if (process.env['DROVER_FLEET_TEST_PLAIN'] === '1') return 'DROVER_FLEET_TEST_PLAIN is set';
  if (process.platform !== 'linux') return `${process.platform} has no network namespaces`;
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const probe = `drover-${process.pid}-probe`;
  try {
    ip('netns', 'add', probe);
    const shell = ['unshare', '--pid', '--mount', '--uts', '--fork', '--mount-proc', 'true'];
    runQuietly('nsenter', `--net=/run/netns/${probe}`, ...shell);
    ip('link', 'add', `drvp${process.pid}`, 'netns', probe, 'type', 'bridge');
    return null;
  } catch (error) {
    return `namespaces are refused: ${String(error).split('\n')[0]}`;
  } finally {
    ignoreFailure(() => ip('netns', 'del', probe));
  }
}

function ip(...args: readonly string[]): string {
  return runQuietly('ip', ...args);
}

function runQuietly(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
}

function ignoreFailure(body: () => unknown): void {
  try {
    body();
  } catch {
    // It has already exited.
  }
}

/** Removes the leftovers of a test that was killed: their name says which process created them. */
function sweep(): void {
  const names = ip('netns', 'list').matchAll(/^drover-(\d+)-[\w-]+/gm);
  for (const [name, pid] of names) {
    if (isProcessAlive(Number(pid))) continue;
    for (const left of pidsIn(name)) ignoreFailure(() => process.kill(left, 'SIGKILL'));
    ignoreFailure(() => ip('netns', 'del', name));
  }
  const bridges = ip('-o', 'link', 'show', 'type', 'bridge').matchAll(/ (drv\d+)[:@]/g);
  for (const [, bridge] of bridges) {
    if (bridge === undefined) continue;
    // The bridge's alias is the process that created it.
    const owner = /alias drover-(\d+)/.exec(ip('link', 'show', bridge))?.[1];
    const isLeft = owner !== undefined && !isProcessAlive(Number(owner));
    if (isLeft) ignoreFailure(() => ip('link', 'del', bridge));
  }
}

function pidsIn(namespace: string): readonly number[] {
  return ip('netns', 'pids', namespace)
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
}

function namespaces(): Network {
  sweep();
  const { bridge, subnet } = addBridge();
  const hosts: { host: Host; remove: () => Promise<void> }[] = [];
  const addHost = async (name: string): Promise<Host> => {
    const number = hosts.length + 2;
    const made = await addNamespace({ bridge, subnet, number, name });
    hosts.push(made);
    return made.host;
  };
  const close = async (): Promise<void> => {
    await Promise.allSettled(hosts.map(({ remove }) => remove()));
    ignoreFailure(() => ip('link', 'del', bridge));
  };
  const address = `${subnet}.1`;
  const places = { address, clients: `${subnet}.0/24`, serverAddresses: [address] };
  return { kind: 'namespaces', reason: '', ...places, addHost, close };
}

/** Two concurrent tests use two subnets, because a bridge's name is unique. */
function addBridge(): { bridge: string; subnet: string } {
  let problem: unknown = null;
  for (let n = 1; n <= subnetsMax; n += 1) {
    const bridge = `drv${n}`;
    try {
      ip('link', 'add', bridge, 'type', 'bridge');
    } catch (error) {
      problem = error;
      continue;
    }
    ip('link', 'set', bridge, 'alias', `drover-${process.pid}`);
    ip('addr', 'add', `10.231.${n}.1/24`, 'dev', bridge);
    ip('link', 'set', bridge, 'up');
    return { bridge, subnet: `10.231.${n}` };
  }
  throw new Error(`no bridge could be made: ${String(problem)}`);
}

const nowhere = '99';

function toPort(port: number): readonly string[] {
  return ['ipproto', 'tcp', 'dport', String(port), 'table', nowhere];
}

interface NamespaceStart {
  readonly bridge: string;
  readonly subnet: string;
  readonly number: number;
  readonly name: string;
}

async function addNamespace(
  start: NamespaceStart,
): Promise<{ host: Host; remove: () => Promise<void> }> {
  const { bridge, subnet, number, name } = start;
  const namespace = `drover-${process.pid}-${bridge}-${number}`;
  const cable = `${bridge}p${number}`;
  ip('netns', 'add', namespace);
  ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  ip('link', 'set', cable, 'master', bridge, 'up');
  const inside = ['-n', namespace];
  ip(...inside, 'link', 'set', 'lo', 'up');
  ip(...inside, 'addr', 'add', `${subnet}.${number}/24`, 'dev', 'eth0');
  ip(...inside, 'link', 'set', 'eth0', 'up');
  let first = await startFirstProcess(namespace, name);
  const kill = async (): Promise<void> => {
    await first.kill();
    for (const pid of pidsIn(namespace)) ignoreFailure(() => process.kill(pid, 'SIGKILL'));
  };
  const host: Host = {
    address: `${subnet}.${number}`,
    serverAddress: `${subnet}.1`,
    enter: () => ['nsenter', '-t', String(first.pid), '-n', '-p', '-m', '-u', '--'],
    kill: async () => {
      await kill();
      // The computer is switched on again at once, but its programs are not started.
      first = await startFirstProcess(namespace, name);
    },
    // The cable stays plugged in: no loss of carrier, no RST, no ICMP.
    cutOff: () => void ip('link', 'set', cable, 'nomaster'),
    reconnect: () => void ip('link', 'set', cable, 'master', bridge),
    cutOffFrom: (port) => {
      // Packets on this route return to the host that sent them, which drops them.
      ip(...inside, 'route', 'replace', 'default', 'dev', 'lo', 'table', nowhere);
      ip(...inside, 'rule', 'add', ...toPort(port));
    },
    reconnectTo: (port) => void ip(...inside, 'rule', 'del', ...toPort(port)),
    processes: () =>
      pidsIn(namespace).filter((pid) => ![first.pid, first.outer].includes(pid) && !isIdle(pid)),
  };
  const remove = async (): Promise<void> => {
    await kill();
    ignoreFailure(() => ip('link', 'del', cable));
    ignoreFailure(() => ip('netns', 'del', namespace));
  };
  return { host, remove };
}

interface FirstProcess {
  readonly pid: number;
  readonly outer: number;
  readonly kill: () => Promise<void>;
}

/** Process 1 of a host: when it exits, the kernel kills all others. It reaps orphaned processes. */
async function startFirstProcess(namespace: string, name: string): Promise<FirstProcess> {
  const script = `hostname "$1"; echo up; while :; do ${idleWords.join(' ')} & wait; done`;
  const shell = ['unshare', '--pid', '--mount', '--uts', '--fork', '--mount-proc'];
  const child = spawn(
    'nsenter',
    [`--net=/run/netns/${namespace}`, ...shell, '/bin/sh', '-c', script, 'sh', name],
    // When process 1 is killed, `unshare` complains that it cannot end itself in the same way.
    { stdio: ['ignore', 'pipe', 'ignore'], env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } },
  );
  const lines = createInterface({ input: child.stdout });
  const [said] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as unknown[];
  lines.close();
  if (said !== 'up') throw new Error(`the host ${name} does not start: ${String(said)}`);
  const outer = child.pid ?? 0;
  const pid = onlyChild(outer);
  if (pid === null) throw new Error(`the host ${name} has ended`);
  return { pid, outer, kill: () => killFirst(child, pid) };
}

/** The command that process 1 waits for. */
const idleWords = ['sleep', '1000000'];

function isIdle(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `${idleWords.join('\0')}\0`;
  } catch {
    return true;
  }
}

async function killFirst(child: ChildProcess, pid: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  ignoreFailure(() => process.kill(pid, 'SIGKILL'));
  await ended;
}

/** The process that a starter such as `nsenter` has started; null before and after. */
export function onlyChild(pid: number): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return children === '' ? null : Number(children.split(' ')[0]);
  } catch {
    return null;
  }
}

/** The process's pid on its own host, where pids start at 1. */
export function numberInside(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^NSpid:.*?(\d+)$/m.exec(status)?.[1] ?? pid);
}

/**
 * Used if namespaces are not allowed. A disconnected host is suspended (SIGSTOP), which is weaker,
 * because it does not continue working.
 */
function plainProcesses(reason: string): Network {
  const marks: string[] = [];
  const address = '127.0.0.1';
  // Each host uses its own address, so that the git server can distinguish them.
  const serverAddresses = ['linux', 'android'].includes(process.platform)
    ? Array.from({ length: plainHostsMax }, (_, n) => `127.0.0.${n + 1}`)
    : [address];
  const signalAll = (mark: string, name: NodeJS.Signals): number => {
    const found = processesOf('', mark);
    for (const { pid } of found) ignoreFailure(() => process.kill(pid, name));
    return found.length;
  };
  const killAll = async (mark: string): Promise<void> => {
    // A process that was just starting another one is found in the next round.
    while (signalAll(mark, 'SIGKILL') > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const addHost = async (_name: string, mark: string): Promise<Host> => {
    marks.push(mark);
    const own = serverAddresses[marks.length] ?? address;
    const cutOff = (): void => void signalAll(mark, 'SIGSTOP');
    const reconnect = (): void => void signalAll(mark, 'SIGCONT');
    return {
      address: own,
      serverAddress: own,
      enter: () => [],
      kill: () => killAll(mark),
      cutOff,
      reconnect,
      cutOffFrom: cutOff,
      reconnectTo: reconnect,
      processes: () => processesOf('', mark).map(({ pid }) => pid),
    };
  };
  const close = async (): Promise<void> => {
    for (const mark of marks) await killAll(mark);
  };
  const places = { address, clients: '127.0.0.1/32', serverAddresses };
  return { kind: 'processes', reason, ...places, addHost, close };
}
