// Misbehaving programs: the run ends with its exit code, reports the reason, and leaves nothing of
// them behind.

import { checkEnding, type EndingRow } from './support/ending.ts';
import { table } from './support/lanes.ts';
import { sized } from '../../tier.ts';

const megabyte = 1024 * 1024;

/** A backend reads 64 MB of it in a second of CPU time. */
const flood = sized(384, 1024) * megabyte;

/**
 * Raw output is emptied while the agent is suspended; until then it continues, and a disk is fast.
 */
const floodOnDiskMax = (flood / 4) * 3;

const gateFlood = sized(128, 256) * megabyte;

/** Far more than is read at once, and than Drover keeps. */
const endlessLine = sized(64, 1024) * megabyte;

/** Another row of the gate makes the same promise, and more. */
const forSoak = (row: EndingRow): readonly EndingRow[] => sized([], [row]);

/** Succeeds and writes one file. */
const good = 'cat > /dev/null; echo bonjour > hello.txt';

const agents: readonly EndingRow[] = [
  {
    title: `an agent that floods ${flood / megabyte} MB of lines`,
    agent: `${good}; yes "$(printf '%01000d' 0)" | head -c ${flood}`,
    toml: 'max_output_size = "1MB"',
    code: 0,
    status: 'completed',
    words: [],
    diskBytesMax: floodOnDiskMax,
  },
  {
    // The row above shows that disk use is bounded; here, one line must not fill the memory.
    title: `an agent that floods ${endlessLine / megabyte} MB without a line end on standard error`,
    agent: `${good}; head -c ${endlessLine} /dev/zero | tr '\\0' x >&2; exit 3`,
    toml: 'max_output_size = "1MB"',
    code: 1,
    status: 'failed',
    words: ['exit code 3', 'drover retry'],
    diskBytesMax: floodOnDiskMax,
  },
  {
    title: 'an agent that ignores SIGTERM and never ends',
    agent: `trap '' TERM INT HUP; ${good}; while :; do sleep 1; done`,
    toml: 'task_timeout = "1s"',
    code: 1,
    status: 'failed',
    words: ['1 s', 'task_timeout'],
  },
  ...forSoak({
    title: 'an agent that never ends',
    agent: 'sleep 1000',
    toml: 'task_timeout = "1s"',
    code: 1,
    status: 'failed',
    words: ['1 s', 'task_timeout'],
  }),
  {
    title: 'an agent with children of their own sessions that never end',
    agent: 'setsid sleep 1000 & (setsid setsid sleep 1001 &) ; sleep 1002',
    toml: 'task_timeout = "1s"',
    code: 1,
    status: 'failed',
    words: ['task_timeout'],
  },
  {
    title: 'an agent that leaves a process behind',
    agent: `${good}; setsid sleep 1000 < /dev/null > /dev/null 2>&1 &`,
    code: 0,
    status: 'completed',
    words: [],
  },
  ...forSoak({
    title: 'an agent that kills itself',
    agent: 'kill -KILL $$',
    code: 1,
    status: 'failed',
    words: [/signal 9|SIGKILL/],
  }),
  {
    title: 'an agent that removes its worktree',
    agent: 'cat > /dev/null; rm -rf "$PWD"',
    code: 1,
    status: 'failed',
    words: [/worktree/],
  },
  {
    title: 'an agent that does nothing',
    agent: 'cat > /dev/null',
    code: 2,
    status: 'needs_review',
    words: ['drover approve'],
  },
  {
    title: 'an agent that is no program',
    agent: '\u0000\u0001 this is neither a script nor a program',
    code: 2,
    status: 'ready',
    words: ['exit code'],
  },
];

const commands: readonly EndingRow[] = [
  ...forSoak({
    title: 'a gate that never ends',
    agent: good,
    toml: "[gate]\ncommand = 'sleep 1000 & sleep 1001'\ntimeout = '1s'",
    code: 2,
    status: 'blocked',
    words: ['The gate already fails on main', 'gate', '1 s', 'timeout'],
  }),
  {
    title: 'a gate that ignores SIGTERM and never ends',
    agent: good,
    toml: `[gate]\ncommand = "trap '' TERM; while :; do sleep 1; done"\ntimeout = "1s"`,
    code: 2,
    status: 'blocked',
    words: ['The gate already fails on main', 'gate', '1 s', 'timeout'],
  },
  ...forSoak({
    title: 'a gate that is not there',
    agent: good,
    toml: '[gate]\ncommand = "no-such-gate --all"',
    code: 2,
    status: 'blocked',
    words: ['The gate already fails on main', 'no-such-gate --all', '127', 'not found'],
  }),
  {
    title: 'a gate that is red',
    agent: good,
    toml: '[gate]\ncommand = "echo $((1 + 2)) tests failed; exit 9"',
    code: 2,
    status: 'blocked',
    words: ['The gate already fails on main', 'exit code 9', '3 tests failed'],
  },
  {
    title: 'a gate that floods',
    agent: good,
    toml: `[gate]\ncommand = "yes | head -c ${gateFlood}"`,
    code: 0,
    status: 'completed',
    words: [],
    diskBytesMax: (gateFlood / 8) * 3,
  },
  {
    title: 'a setup that fails',
    agent: good,
    toml: '[setup]\ncommand = "echo no network; exit 4"',
    code: 2,
    status: 'blocked',
    words: ['setup', '4', 'no network', 'drover resolve'],
  },
  ...forSoak({
    title: 'a setup that is not there',
    agent: good,
    toml: '[setup]\ncommand = "no-such-setup"',
    code: 2,
    status: 'blocked',
    words: ['setup', '127', 'no-such-setup'],
  }),
  ...forSoak({
    title: 'a setup that never ends',
    agent: good,
    toml: '[setup]\ncommand = "sleep 1000"\ntimeout = "1s"',
    code: 2,
    status: 'blocked',
    words: ['setup', '1 s', 'timeout'],
  }),
];

table('agents that end badly', agents, checkEnding);
table('gates and setups that end badly', commands, checkEnding);
