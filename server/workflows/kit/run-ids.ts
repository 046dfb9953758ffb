// The marks by which Drover finds and kills the processes of attempts and gates. Each starts with
// the project's mark, because two projects on one machine may have tasks, and as copies even
// commits, with the same names.

import type { Engine } from './engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

type Of = Pick<Engine, 'places'>;

export function agentRunId(
  { places }: Of,
  taskId: string,
  attempt: number,
  part: string | null,
): string {
  return `${places.mark}/${taskId}/${attempt}/${part ?? taskId}`;
}

export function setupRunId({ places }: Of, taskId: string, attempt: number): string {
  return `${places.mark}/${taskId}/${attempt}/setup`;
}

export function reviewHolder(commit: Sha): string {
  return `review:${commit}`;
}

export function reviewRunId({ places }: Of, commit: Sha): string {
  return `${places.mark}/review/${commit}`;
}

export function gateRunId({ places }: Of, commit: Sha, part: string | number): string {
  return `${places.mark}/gate/${commit}/${part}`;
}
