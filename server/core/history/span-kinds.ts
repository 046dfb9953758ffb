// The one table of spans and of their attributes: the spans are typed by it, and the page of the
// docs, the ClickHouse dashboard and its test are made from it.

export interface SpanKind {
  readonly name: string;
  readonly help: string;
}

export const spanKinds = [
  { name: 'drover.workflow.run', help: 'A run, from its start to its end. The root of the trace.' },
  {
    name: 'drover.task.execute',
    help: 'A task in this run: with what it waited for, until it landed.',
  },
  { name: 'drover.worktree.setup', help: 'From a claim to the start of the agent.' },
  {
    name: 'drover.agent.execute',
    help: "An attempt's agent. `TRACEPARENT` of the agent names this span.",
  },
  {
    name: 'drover.landing',
    help: 'From the end of the agent until the task has landed, with the gate.',
  },
  { name: 'drover.gate.run', help: 'A run of the gate, linked to the tasks that it decided.' },
  { name: 'drover.wait.blocker', help: 'The task waited for other tasks.' },
  { name: 'drover.wait.slot', help: 'The task was ready and waited for a free place.' },
  { name: 'drover.wait.retry', help: 'The delay before a further attempt.' },
  { name: 'drover.wait.quota', help: "The agent's account was at a limit." },
  {
    name: 'drover.wait.person',
    help: 'A review, a question, a conflict or a pause waited for a person.',
  },
] as const satisfies readonly SpanKind[];

export type SpanName = (typeof spanKinds)[number]['name'];

export const spanAttributes = [
  { name: 'drover.workflow.id', help: 'The run.' },
  { name: 'drover.workflow.type', help: '`sequential` with one worker, else `parallel`.' },
  { name: 'drover.workflow.state', help: 'How the run ended: `finished` or `stopped`.' },
  { name: 'drover.epic.id', help: 'The epic of the run or of the task.' },
  { name: 'drover.worker.count', help: 'Agents that may run at a time.' },
  { name: 'drover.worker.id', help: 'The run and the task, as in webhooks.' },
  { name: 'drover.task.id', help: 'The task.' },
  { name: 'drover.task.title', help: 'Its title.' },
  { name: 'drover.task.state', help: 'Its status at the end.' },
  { name: 'drover.task.attempt', help: 'Number of the attempt.' },
  { name: 'drover.agent.type', help: 'The kind of agent.' },
  { name: 'drover.agent.model', help: 'The model that the agent was asked for.' },
  { name: 'drover.blocker.task_id', help: 'The task that was waited for last.' },
  {
    name: 'drover.wait.kind',
    help: 'What was waited for: `blocked`, `queued`, `retry`, `quota`, `review`, `question`, `conflict`, `paused`.',
  },
  { name: 'drover.wait.on', help: 'Ids of blockers, or the words of the review or the question.' },
  { name: 'drover.gate.passed', help: 'Whether the gate passed.' },
  { name: 'drover.gate.flaky', help: 'Whether it failed first and then passed on the same tree.' },
  { name: 'drover.gate.exit_code', help: "Exit code of the gate's command." },
  { name: 'error.type', help: 'Kind of the failure.' },
  { name: 'gen_ai.operation.name', help: '`invoke_agent`.' },
  {
    name: 'gen_ai.provider.name',
    help: '`anthropic`, `openai` or `gcp.gemini`, where the agent says it.',
  },
  { name: 'gen_ai.agent.name', help: 'The kind of agent.' },
  { name: 'gen_ai.request.model', help: 'The model that the agent was asked for.' },
  { name: 'gen_ai.conversation.id', help: "The agent's own conversation." },
  { name: 'gen_ai.usage.input_tokens', help: 'Tokens read in the attempt.' },
  { name: 'gen_ai.usage.output_tokens', help: 'Tokens written in the attempt.' },
] as const satisfies readonly SpanKind[];

export type SpanAttribute = (typeof spanAttributes)[number]['name'];
