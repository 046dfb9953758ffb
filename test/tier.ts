// How much of each table a run takes: the gate (`npm test`) has the tests that guard a change, the
// soak (`npm run soak`) everything. This is the one place that reads the switches, and that lists
// the tests that the gate leaves to the soak. docs/testing.md names the gate's own test of each
// promise.

const isSoak = process.env['DROVER_TEST_TIER'] === 'soak';

export function sized<T>(gate: T, soak: T): T {
  return isSoak ? soak : gate;
}

/**
 * The seed of random tests: DROVER_SEED if it is set; otherwise always the same one in the gate,
 * and the clock's in the soak.
 */
export const testSeed: number = Number(
  process.env['DROVER_SEED'] ?? sized(1, Date.now() % 1_000_000),
);

/** A test that only the soak runs. */
export function soakTest(title: string, run: () => void | Promise<void>): void {
  if (isSoak) test(title, run);
}

/** Files that only the soak runs. */
export const soakFiles: ReadonlySet<string> = new Set([
  'test/neighbours/faults.test.ts',
  'test/replay/bench.test.ts',
  'test/replay/replay.test.ts',
  'test/agents/claude-cut.test.ts',
  'test/e2e/agents.test.ts',
  'test/e2e/beads-live.test.ts',
  'test/e2e/beads-points.test.ts',
  'test/e2e/branch-prefix.test.ts',
  'test/e2e/confined-agents.test.ts',
  'test/e2e/fail-over.test.ts',
  'test/e2e/fleet-output.test.ts',
  'test/e2e/forecast-claude.test.ts',
  'test/e2e/mcp-acp.test.ts',
  'test/e2e/mcp-person-claude.test.ts',
  'test/e2e/quota.test.ts',
  'test/e2e/remote-agents.test.ts',
  'test/e2e/soak-cut.test.ts',
  'test/e2e/telemetry-agents.test.ts',
  'test/forge/token-rights.test.ts',
  'test/forge/friday-evening.test.ts',
  'test/fleet/absence.test.ts',
  'test/forge/landing-needs.test.ts',
  'test/fleet/checks.test.ts',
  'test/fleet/alerts.test.ts',
  'test/fleet/cut-ssh.test.ts',
  'test/fleet/gone.test.ts',
  'test/fleet/lost-label.test.ts',
  'test/fleet/missing-agent.test.ts',
  'test/fleet/round-trips.test.ts',
  'test/fleet/show-1.test.ts',
  'test/fleet/solo.test.ts',
  'test/fleet/support.test.ts',
  'test/fleet/upgrade.test.ts',
  'test/store-postgres/output-deaths.test.ts',
  'test/vscode/stories/attachments.test.ts',
  'test/vscode/stories/bugs.test.ts',
  'test/vscode/stories/claude-mends.test.ts',
  'test/vscode/stories/claude.test.ts',
  'test/vscode/stories/conflict.test.ts',
  'test/vscode/stories/forge.test.ts',
  'test/vscode/stories/first-agent.test.ts',
  'test/vscode/stories/first-hour.test.ts',
  'test/vscode/stories/fleet.test.ts',
  'test/vscode/stories/hostile-clone.test.ts',
  'test/vscode/stories/hostile.test.ts',
  'test/vscode/stories/keyboard.test.ts',
  'test/vscode/stories/pictures.test.ts',
  'test/vscode/stories/plan-from-spec.test.ts',
  'test/vscode/stories/reattach.test.ts',
  'test/vscode/stories/remote.test.ts',
  'test/vscode/stories/review.test.ts',
  'test/vscode/stories/several.test.ts',
  'test/vscode/stories/single-task.test.ts',
  'test/vscode/stories/stopwatch.test.ts',
  'test/vscode/stories/throughput.test.ts',
  'test/vscode/stories/tree-clicks.test.ts',
  'test/vscode/stories/trouble.test.ts',
  'test/web/deep-links.test.ts',
  'test/web/devices.test.ts',
  'test/web/hostile-page.test.ts',
  'test/web/projects.test.ts',
  'test/web/stories.test.ts',
]);

/** Plans in the extension host that only the soak runs. */
export const soakPlans: ReadonlySet<string> = new Set(['no-git', 'old-git', 'reload', 'several']);
