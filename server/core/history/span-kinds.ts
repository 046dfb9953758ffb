// Defines all spans and their attributes. The types, the documentation, the ClickHouse dashboard
// and its test are derived from this table.

/** Names and their meanings. */
export type SpanWords = Readonly<Record<string, string>>;

export const spanKinds = {
  'drover.workflow.run': 'A run, from its start to its end. The root of the trace.',
  'drover.task.execute': 'A task in this run, including its waits, until it landed.',
  'drover.worktree.setup': 'From a claim to the start of the agent.',
  'drover.agent.execute': "An attempt's agent. `TRACEPARENT` of the agent names this span.",
  'drover.landing': 'From the end of the agent until the task has landed, with the gate.',
  'drover.gate.run': 'A run of the gate, linked to the tasks that it decided.',
  'drover.wait.blocker': 'The task waited for other tasks.',
  'drover.wait.slot': 'The task was ready and waited for a free slot.',
  'drover.wait.retry': 'The delay before a further attempt.',
  'drover.wait.quota': "The agent's account was at a limit.",
  'drover.wait.person': 'A review, a question, a conflict or a pause waited for a person.',
} as const satisfies SpanWords;

export type SpanName = keyof typeof spanKinds;

export const spanAttributes = {
  'drover.workflow.id': 'The run.',
  'drover.workflow.type': '`sequential` with one worker, else `parallel`.',
  'drover.workflow.state': 'How the run ended: `finished` or `stopped`.',
  'drover.epic.id': 'The epic of the run or of the task.',
  'drover.worker.count': 'Agents that may run at the same time.',
  'drover.worker.id': 'The run and the task, as in webhooks.',
  'drover.task.id': 'The task.',
  'drover.task.title': 'Its title.',
  'drover.task.state': 'Its status at the end.',
  'drover.task.attempt': 'Number of the attempt.',
  'drover.agent.type': 'The kind of agent.',
  'drover.agent.model': 'The model that the agent was asked for.',
  'drover.blocker.task_id': 'The last blocker that the task waited for.',
  'drover.wait.kind':
    'The cause of the wait: `blocked`, `queued`, `retry`, `quota`, `review`, `question`, `conflict`, `paused`.',
  'drover.wait.on': 'Ids of blockers, or the text of the review or the question.',
  'drover.gate.passed': 'Whether the gate passed.',
  'drover.gate.flaky': 'Whether it failed first and then passed on the same tree.',
  'drover.gate.exit_code': "Exit code of the gate's command.",
  'error.type': 'Kind of the failure.',
  'gen_ai.operation.name': '`invoke_agent`.',
  'gen_ai.provider.name': '`anthropic`, `openai` or `gcp.gemini`, if the agent reports it.',
  'gen_ai.agent.name': 'The kind of agent.',
  'gen_ai.request.model': 'The model that the agent was asked for.',
  'gen_ai.conversation.id': "The agent's own conversation.",
  'gen_ai.usage.input_tokens': 'Tokens read in the attempt.',
  'gen_ai.usage.output_tokens': 'Tokens written in the attempt.',
} as const satisfies SpanWords;

export type SpanAttribute = keyof typeof spanAttributes;
