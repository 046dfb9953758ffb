// node test/neighbours/main.ts [--seeds N] [--from S] [--jobs J] [--without 3,7] [--fault name]
// [--program cli.js] [--shrink] [--all] [--keep] [--story]: plays schedules and prints the first
// failing one with its story, and the command that repeats it.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { removeFolder } from '../remove-folder.ts';
import { faultyProgram, plantedFaults } from './faults.ts';
import { drawSchedule, type Schedule, withoutActs } from './schedule.ts';
import { play, type Played } from './play.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    without: { type: 'string', default: '' },
    shrink: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    story: { type: 'boolean', default: false },
    fault: { type: 'string' },
    /** A program from another build, so that a rebuild does not change it. */
    program: { type: 'string' },
  },
});

const [first, count, jobs] = [values.from, values.seeds, values.jobs].map(Number) as [
  number,
  number,
  number,
];
const given = values.without
  .split(',')
  .filter((word) => word !== '')
  .map(Number);
if (![first, count, jobs, ...given].every(Number.isSafeInteger) || count < 1) {
  console.error('--seeds, --from and --without take whole numbers');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'drover-faulty-'));
const planted = values.fault === undefined ? undefined : plantedFaults[values.fault];
const program =
  values.fault === undefined ? (values.program ?? null) : await faultyProgram(values.fault, folder);

function playOnce(schedule: Schedule): Promise<Played> {
  return play(schedule, { ...(program === null ? {} : { program }), isKept: values.keep });
}

function kindsOf({ violations }: Played): readonly string[] {
  return violations.map((violation) => violation.slice(0, violation.indexOf(':')));
}

/**
 * Removes actions one after the other while it fails in the same way; each is tried twice, because
 * timing is random.
 */
async function shrink(schedule: Schedule, failed: Played): Promise<readonly number[]> {
  const wanted = new Set(kindsOf(failed));
  const out = new Set(given);
  for (const { number } of [...schedule.acts, ...schedule.agents]) {
    if (out.has(number)) continue;
    const less = withoutActs(schedule, new Set([...out, number]));
    for (let look = 0; look < 2; look += 1) {
      if (!kindsOf(await playOnce(less)).some((kind) => wanted.has(kind))) continue;
      out.add(number);
      break;
    }
  }
  return [...out];
}

let failures = 0;
let next = first;

async function take(seed: number): Promise<void> {
  const schedule = drawSchedule(seed, planted?.often);
  const played = await playOnce(withoutActs(schedule, new Set(given)));
  if (values.story && played.violations.length === 0) console.log(played.story.join('\n'));
  if (played.violations.length === 0) return;
  failures += 1;
  console.log(`${played.story.join('\n')}\n${played.violations.join('\n')}`);
  const out = values.shrink ? await shrink(schedule, played) : given;
  const fault = values.fault === undefined ? '' : ` --fault ${values.fault}`;
  const without = out.length === 0 ? '' : ` --without ${out.join(',')}`;
  console.log(
    `seed ${seed} fails. Again: node test/neighbours/main.ts --from ${seed}${fault}${without}`,
  );
}

async function work(): Promise<void> {
  while (next < first + count && (failures === 0 || values.all)) {
    next += 1;
    await take(next - 1);
  }
}

await Promise.all(Array.from({ length: Math.min(jobs, count) }, work));
if (!values.keep) removeFolder(folder);
console.log(`${next - first} of ${count} seeds from ${first}: ${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;
