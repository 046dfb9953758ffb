// Attempts that need a direct system call, made by Perl, which every system here has.

import { readFileSync } from 'node:fs';

interface Calls {
  readonly ptrace: number;
  readonly processVmReadv: number;
  readonly addKey: number;
  readonly requestKey: number;
  readonly keyctl: number;
  readonly syslog: number;
}

const numbers: Readonly<Partial<Record<NodeJS.Architecture, Calls>>> = {
  x64: { ptrace: 101, processVmReadv: 310, addKey: 248, requestKey: 249, keyctl: 250, syslog: 103 },
  arm64: {
    ptrace: 117,
    processVmReadv: 270,
    addKey: 217,
    requestKey: 218,
    keyctl: 219,
    syslog: 116,
  },
};
const calls = numbers[process.arch] ?? {
  ptrace: -1,
  processVmReadv: -1,
  addKey: -1,
  requestKey: -1,
  keyctl: -1,
  syslog: -1,
};

/** KEY_SPEC_SESSION_KEYRING of keyctl(2). */
const session = -3;
const keyName = 'drover-escape';

function perl(...lines: readonly string[]): string {
  return `perl -e '${lines.join(' ')}'`;
}

/** Runs the remaining arguments in a session that has a key. */
export const withKey: readonly string[] = [
  'perl',
  '-e',
  [
    `syscall(${calls.keyctl}, 1, 0);`,
    `my ($type, $name, $value) = ("user", "${keyName}", "secret");`,
    `syscall(${calls.addKey}, $type, $name, $value, 6, ${session}) > 0 or die "no key: $!";`,
    'exec @ARGV;',
  ].join(' '),
];

export const keys: Readonly<Record<string, string>> = {
  'read a key of the session': perl(
    `my ($type, $name, $found) = ("user", "${keyName}", "\\0" x 64);`,
    `my $key = syscall(${calls.keyctl}, 10, ${session}, $type, $name, 0);`,
    `syscall(${calls.keyctl}, 11, $key, $found, 64);`,
    'exit($found =~ /^secret/ ? 0 : 1);',
  ),
  'ask for a key of the session': perl(
    `my ($type, $name) = ("user", "${keyName}");`,
    `exit(syscall(${calls.requestKey}, $type, $name, 0, 0) > 0 ? 0 : 1);`,
  ),
  'put a key into the session': perl(
    'my ($type, $name, $value) = ("user", "planted", "x");',
    `exit(syscall(${calls.addKey}, $type, $name, $value, 1, ${session}) > 0 ? 0 : 1);`,
  ),
  'see the names of keys': `grep -q ${keyName} /proc/keys`,
};

export const kernelLog: Readonly<Record<string, string>> = {
  'read the log of the kernel': perl(`exit(syscall(${calls.syslog}, 10, 0, 0) >= 0 ? 0 : 1);`),
};

/** `P`: a process of the machine; `MEM`: an address in it at which bytes can be read. */
const allOfMemory: Readonly<Record<string, string>> = {
  'read its memory': perl(
    'my $found = "\\0" x 8;',
    'my $here = pack("P Q", $found, 8); my $there = pack("Q Q", hex($ENV{MEM}), 8);',
    `exit(syscall(${calls.processVmReadv}, int($ENV{P}), $here, 1, $there, 1, 0) == 8 ? 0 : 1);`,
  ),
  'open its memory': 'exec 4< "/proc/$P/mem"',
  'debug it': perl(`exit(syscall(${calls.ptrace}, 0x4206, int($ENV{P}), 0, 0) == 0 ? 0 : 1);`),
};

const isRoot = process.getuid?.() === 0;
/** Yama lets only root inspect processes that are not children. */
const mayTrace = isRoot || readOr('/proc/sys/kernel/yama/ptrace_scope', '0').trim() === '0';
export const memory = mayTrace ? allOfMemory : {};

/** TIOCSTI works only if the system still allows it. */
const mayType = readOr('/proc/sys/dev/tty/legacy_tiocsti', '1').trim() !== '0';

/** Calls that this system itself prevents prove nothing. */
export const stoppedAnyway: ReadonlySet<string> = new Set([
  ...(mayTrace ? [] : Object.keys(allOfMemory)),
  ...(mayType ? [] : ['type into your terminal']),
]);

/**
 * The terminal is descriptor 3. The driver does not refuse this, because it knows no such command.
 */
export const terminal: Readonly<Record<string, string>> = {
  ...(mayType && {
    'type into your terminal': perl(
      'open(my $tty, "+<&=", 3) or exit 1; my $key = "\\n";',
      'exit(ioctl($tty, 0x5412, $key) ? 0 : 1);',
    ),
  }),
  'command your console': perl(
    'open(my $tty, "+<&=", 3) or exit 1; my $command = "\\2";',
    'ioctl($tty, 0x541c, $command); exit($!{EPERM} ? 1 : 0);',
  ),
};

function readOr(path: string, other: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return other;
  }
}
