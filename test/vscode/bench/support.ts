// The common part of the extension's benches: a window that is observed, and how a number is
// printed.

import { eventually } from '../../e2e/support/eventually.ts';
import { makeProject, type Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { openDrover } from '../stories/support/parts.ts';
import { openWorkbench, type Workbench } from '../stories/support/workbench.ts';
import { hearMeasurements, type Measured, measurementsOf } from './measurements.ts';

export function print(what: string, value: number, goal: string, unit = 'ms'): void {
  console.log(`${what.padEnd(84)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(6)} goal ${goal}`);
}

export async function open(project: Project, settings: object = {}): Promise<Workbench> {
  const bench = await openWorkbench({
    env: project.env,
    folder: project.root,
    settings: { 'drover.showPreflight': false, 'drover.notifications': 'none', ...settings },
    prepare: hearMeasurements,
  });
  await openDrover(bench.page);
  return bench;
}

export async function measured(frame: Frame, name: string): Promise<Measured> {
  return await eventually(`${name} is measured`, async () => {
    return (await measurementsOf(frame)).find((each) => each.name === name);
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function demo(): Project {
  return makeProject({ env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' } });
}
