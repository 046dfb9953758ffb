// Defines each metric's name, meaning and labels.

export interface MetricKind {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/**
 * The values, the dashboards and the documentation are generated from this table. Every series also
 * has the label `project`.
 */
export const metricKinds = [
  {
    name: 'drover_tasks_claimed_total',
    kind: 'counter',
    help: 'Attempts that were started.',
    labels: ['agent_type'],
  },
  {
    name: 'drover_tasks_completed_total',
    kind: 'counter',
    help: 'Tasks that are completed.',
    labels: [],
  },
  {
    name: 'drover_tasks_failed_total',
    kind: 'counter',
    help: 'Tasks that failed.',
    labels: ['error_type'],
  },
  {
    name: 'drover_tasks_retried_total',
    kind: 'counter',
    help: 'Attempts that failed and led to another attempt.',
    labels: ['error_type'],
  },
  {
    name: 'drover_blockers_detected_total',
    kind: 'counter',
    help: 'Times that a task started to wait for a blocker.',
    labels: [],
  },
  { name: 'drover_gates_total', kind: 'counter', help: 'Runs of the gate.', labels: ['result'] },
  {
    name: 'drover_agent_tokens_total',
    kind: 'counter',
    help: 'Tokens that agents used.',
    labels: ['agent_type', 'token_type'],
  },
  {
    name: 'drover_agent_cost_usd_total',
    kind: 'counter',
    help: 'Estimated cost of agents in US dollars.',
    labels: ['agent_type'],
  },
  {
    name: 'drover_task_wait_seconds_total',
    kind: 'counter',
    help: 'Time that tasks waited while a run was active.',
    labels: ['kind'],
  },
  { name: 'drover_tasks_active', kind: 'gauge', help: 'Tasks with a running attempt.', labels: [] },
  {
    name: 'drover_tasks_pending',
    kind: 'gauge',
    help: 'Tasks that are ready or blocked.',
    labels: ['state'],
  },
  { name: 'drover_workers_active', kind: 'gauge', help: 'Agents that are running.', labels: [] },
  {
    name: 'drover_tasks_waiting',
    kind: 'gauge',
    help: 'Tasks that wait: for a person, or for other tasks (`blocked`).',
    labels: ['state'],
  },
  {
    name: 'drover_tasks_stuck',
    kind: 'gauge',
    help: 'Blocked tasks that cannot start until a person acts.',
    labels: [],
  },
  {
    name: 'drover_questions_open',
    kind: 'gauge',
    help: 'Questions of agents that no person has answered.',
    labels: [],
  },
  {
    name: 'drover_landings_waiting',
    kind: 'gauge',
    help: 'Finished work that waits to land or is landing.',
    labels: [],
  },
  {
    name: 'drover_landing_oldest_seconds',
    kind: 'gauge',
    help: 'Age of the oldest work that waits to land (0 = none waits).',
    labels: [],
  },
  { name: 'drover_runs_active', kind: 'gauge', help: 'Active runs.', labels: [] },
  {
    name: 'drover_machines_alive',
    kind: 'gauge',
    help: 'Machines of the fleet that send heartbeats. Fleets only.',
    labels: [],
  },
  {
    name: 'drover_machines_dead',
    kind: 'gauge',
    help: 'Machines whose heartbeats ended without a stop in the last 24 hours. Fleets only.',
    labels: [],
  },
  {
    name: 'drover_remote_away',
    kind: 'gauge',
    help: '1 if the machine cannot reach the git remote, else 0. Fleets only.',
    labels: ['machine'],
  },
  {
    name: 'drover_task_duration_seconds',
    kind: 'histogram',
    help: 'Time of a completed task from its first claim to its landing.',
    labels: [],
  },
  {
    name: 'drover_agent_duration_seconds',
    kind: 'histogram',
    help: 'Time of one attempt of an agent.',
    labels: ['agent_type'],
  },
  {
    name: 'drover_worktree_setup_seconds',
    kind: 'histogram',
    help: 'Time from a claim to the start of the agent.',
    labels: [],
  },
  {
    name: 'drover_gate_duration_seconds',
    kind: 'histogram',
    help: 'Time of one run of the gate.',
    labels: [],
  },
] as const satisfies readonly MetricKind[];

export type MetricName = (typeof metricKinds)[number]['name'];
