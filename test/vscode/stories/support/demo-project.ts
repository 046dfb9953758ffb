// A real repository with the demo agent, in which agents take their time so that they can be watched.

import { makeProject, type Project } from '../../../e2e/support/project.ts';

export interface DemoOptions {
  readonly workers?: number;
  /** How long the agent takes for each of its steps. */
  readonly stepMs?: number;
  readonly settings?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function demoProject(options: DemoOptions = {}): Project {
  const { workers = 3, stepMs = 700, settings = '' } = options;
  return makeProject({
    env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '', ...options.env },
    settings: [
      `max_workers = ${workers}`,
      '[agent.env]',
      `DROVER_DEMO_STEP_MS = "${stepMs}"`,
      '[gate]',
      'command = "test -e README.md"',
      settings,
      '',
    ].join('\n'),
  });
}

/** A description that the demo agent follows line by line. */
export function directives(...lines: readonly string[]): string {
  return lines.map((line) => `demo: ${line}`).join('\n');
}
