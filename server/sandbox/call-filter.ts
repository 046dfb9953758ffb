// Kernel calls that no namespace covers, which a filter refuses for the whole sandbox: keys of the
// user's session, the kernel's log, and input into a terminal.

/** One row for each way in which a program may call this machine's kernel. */
interface CallTable {
  /** `AUDIT_ARCH_…` of linux/audit.h. */
  readonly arch: number;
  readonly refused: readonly number[];
  readonly ioctl: number;
}

// In this order: add_key, request_key, keyctl, syslog.
const x64: CallTable = { arch: 0xc000003e, refused: [248, 249, 250, 103], ioctl: 16 };
const x86: CallTable = { arch: 0x40000003, refused: [286, 287, 288, 103], ioctl: 54 };
const arm64: CallTable = { arch: 0xc00000b7, refused: [217, 218, 219, 116], ioctl: 29 };
const arm: CallTable = { arch: 0x40000028, refused: [309, 310, 311, 103], ioctl: 54 };

const tables: Readonly<Partial<Record<NodeJS.Architecture, readonly CallTable[]>>> = {
  x64: [x64, x86],
  arm64: [arm64, arm],
};

/** TIOCSTI, TIOCLINUX. */
const refusedControls = [0x5412, 0x541c];

const [load, jumpEqual, jumpAtLeast, end] = [0x20, 0x15, 0x35, 0x06];
const offsets = { call: 0, arch: 4, secondArgument: 24 };
const allow = 0x7fff0000;
const refusal = (errno: number): number => 0x00050000 + errno;
const [notPermitted, noSuchCall] = [1, 38];

/** A tracer's mark for a skipped call. */
const leftOut = 0xffffffff;
/** The first number of x32 calls, which would bypass the table of x64. */
const firstOfX32 = 0x40000000;

/** A program for bubblewrap's `--seccomp`. Returns null if this architecture has no table. */
export function callFilter(machine: NodeJS.Architecture = process.arch): Buffer | null {
  const known = tables[machine];
  if (known === undefined) return null;
  const blocks = known.map(blockOf);
  const lines: Instruction[] = [[load, 0, 0, offsets.arch]];
  for (const [index, { arch }] of known.entries()) {
    const block = blocks[index] ?? [];
    lines.push([jumpEqual, 0, block.length, arch], ...block);
  }
  lines.push([end, 0, 0, refusal(noSuchCall)]);
  const program = Buffer.alloc(lines.length * 8);
  for (const [index, [code, yes, no, value]] of lines.entries()) {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(yes, index * 8 + 2);
    program.writeUInt8(no, index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  }
  return program;
}

/** Code, number of instructions to skip if true and if false, value: `struct sock_filter`. */
type Instruction = readonly [code: number, yes: number, no: number, value: number];

function blockOf({ refused, ioctl, arch }: CallTable): readonly Instruction[] {
  const answers: Instruction[] = [
    [end, 0, 0, allow],
    [end, 0, 0, refusal(notPermitted)],
  ];
  const ofX32: Instruction[] =
    arch === x64.arch
      ? [
          [jumpAtLeast, 0, 1, firstOfX32],
          [end, 0, 0, refusal(noSuchCall)],
        ]
      : [];
  const controls: Instruction[] = [[load, 0, 0, offsets.secondArgument]];
  for (const [index, control] of refusedControls.entries())
    controls.push([jumpEqual, refusedControls.length - index, 0, control]);
  const calls = refused.map((call, index): Instruction => [
    jumpEqual,
    refused.length - index + controls.length + 1,
    0,
    call,
  ]);
  return [
    [load, 0, 0, offsets.call],
    [jumpEqual, ofX32.length + calls.length + 1 + controls.length, 0, leftOut],
    ...ofX32,
    ...calls,
    [jumpEqual, 0, controls.length, ioctl],
    ...controls,
    ...answers,
  ];
}
