// The commands by which the user decides about a task.

import type { Command } from 'commander';
import type { ResetOptions } from '../commands/steer.ts';
import { calls, define, type Handler, type ProgramHost, wholeNumber } from './options.ts';

const load = async () => await import('../commands/steer.ts');

type Steer = Awaited<ReturnType<typeof load>>;

export function defineSteerCommands(program: Command, host: ProgramHost): void {
  const steer = (command: Command, choose: (commands: Steer) => Handler): Promise<void> =>
    host.run(command, async (context) => await choose(await load())(context));

  const approve = define(program, 'approve <id>', 'Approve a task, an epic or a plan', [
    'approve task-2m8x4q1z',
    'approve task-2m8x4q1z --plan-file plan.md',
  ]);
  approve
    .option('--plan-file <file>', 'Approve this version of its plan (- = stdin)')
    .option('--with-ignored', 'Also land the ignored files that its agent wrote')
    .action((id: string, options: { planFile?: string; withIgnored?: boolean }) =>
      steer(approve, (to) => (context) => to.approve(context, id, options)),
    );

  const back = define(
    program,
    'send-back <id> <text>',
    'Send a change back to the agent with feedback',
    ['send-back task-2m8x4q1z "The French greeting is Spanish."'],
  );
  back.action((id: string, text: string) =>
    steer(back, (to) => (context) => to.sendBack(context, id, text)),
  );

  defineReview(program, host);

  const undo = define(program, 'undo <id>', 'Revert a landed task or epic, through the gate', [
    'undo task-2m8x4q1z --dry-run',
    'undo epic-7h2k9d3f',
  ]);
  undo
    .option('--dry-run', 'Only list the commits that it reverts and the tasks that depend on it')
    .action((id: string, options: { dryRun?: boolean }) =>
      steer(undo, (to) => (context) => to.undo(context, id, options)),
    );

  defineSteering(program, steer);
  defineFollow(program, steer);
  defineEndings(program, steer);
}

/** Hints to a running agent, and stopping it. */
function defineSteering(
  program: Command,
  steer: (command: Command, choose: (commands: Steer) => Handler) => Promise<void>,
): void {
  const pause = define(program, 'pause <id>', 'Stop the agent of a task and keep its work', [
    'pause task-2m8x4q1z',
    'pause task-2m8x4q1z --until task-9c4v7b2n',
  ]);
  pause
    .option('--until <id>', 'Continue when this task has landed, from its work')
    .action((id: string, options: { until?: string }) =>
      steer(pause, (to) => (context) => to.pause(context, id, options)),
    );

  const unpause = define(program, 'resume-task <id>', 'Resume a paused task', [
    'resume-task task-2m8x4q1z --hint "Use the existing parser."',
  ]);
  unpause
    .alias('unpause')
    .option('--hint <text>', 'Hint for the agent')
    .action((id: string, options: { hint?: string }) =>
      steer(unpause, (to) => (context) => to.unpause(context, id, options)),
    );

  const hint = define(program, 'hint <id> <text>', 'Send a hint to a running agent', [
    'hint task-2m8x4q1z "The tests are in test/unit."',
  ]);
  hint.action((id: string, text: string) =>
    steer(hint, (to) => (context) => to.hint(context, id, text)),
  );

  const answer = define(program, 'answer <question-id> <choice>', "Answer an agent's question", [
    'answer q-41 allow',
  ]);
  answer.action((id: string, choice: string) =>
    steer(answer, (to) => (context) => to.answer(context, id, choice)),
  );
}

function defineReview(program: Command, host: ProgramHost): void {
  const review = define(program, 'review <id>', "Show an agent's review of a task", [
    'review task-2m8x4q1z',
    'review task-2m8x4q1z --overrule 2',
  ]);
  review
    .option('--overrule <n>', 'Number of a wrong finding, to ignore for this tree', wholeNumber)
    .action(calls(host, review, async () => (await import('../commands/notes.ts')).review));
}

function defineFollow(
  program: Command,
  steer: (command: Command, choose: (commands: Steer) => Handler) => Promise<void>,
): void {
  const follow = define(
    program,
    'follow [branch]',
    'Update the target branch and its checkout to the landed work',
    ['follow', 'follow main', 'follow main --leave-out'],
  );
  follow
    .option('--leave-out', 'Accept that landed work which you removed stays off the branch')
    .action((branch: string | undefined, options: { leaveOut?: boolean }) =>
      steer(follow, (to) => (context) => to.followTarget(context, branch, options)),
    );
}

function defineEndings(
  program: Command,
  steer: (command: Command, choose: (commands: Steer) => Handler) => Promise<void>,
): void {
  const resolve = define(program, 'resolve <id>', 'Mark an external blocker as resolved', [
    'resolve task-2m8x4q1z --note "The account exists now."',
    'resolve task-2m8x4q1z --note "Mend the tests." --anyway',
  ]);
  resolve
    .option('--note <text>', 'What was done (shown to the next agent)')
    .option('--anyway', 'Start the task even though its branch fails the gate')
    .action((id: string, options: { note?: string; anyway?: boolean }) =>
      steer(resolve, (to) => (context) => to.resolveTask(context, id, options)),
    );

  const cancel = define(program, 'cancel <id>', 'Cancel a task and keep its work', [
    'cancel task-2m8x4q1z --reason "Not wanted any more."',
  ]);
  cancel
    .option('--reason <text>', 'Reason')
    .action((id: string, options: { reason?: string }) =>
      steer(cancel, (to) => (context) => to.cancel(context, id, options)),
    );

  const retry = define(program, 'retry <id>', 'Retry a failed or canceled task', [
    'retry task-2m8x4q1z',
  ]);
  retry
    .option('--force', 'Retry even if no attempts are left')
    .action((id: string, options: { force?: boolean }) =>
      steer(retry, (to) => (context) => to.retry(context, id, options)),
    );

  const restore = define(program, 'restore <id>', 'Start the next attempt from a snapshot', [
    'restore task-2m8x4q1z',
    'restore task-2m8x4q1z --snapshot 2',
  ]);
  restore
    .option('--snapshot <n>', 'Number of the snapshot (default: the last)', wholeNumber)
    .action((id: string, options: { snapshot?: number }) =>
      steer(restore, (to) => (context) => to.restore(context, id, options)),
    );

  const reset = define(program, 'reset [ids...]', 'Make tasks ready again', [
    'reset',
    'reset --failed',
    'reset task-2m8x4q1z',
  ]);
  reset
    .option('--completed', 'Reset completed tasks')
    .option('--failed', 'Reset failed tasks')
    .option('--claimed', 'Reset claimed tasks')
    .option('--in-progress', 'Reset tasks in progress')
    .action((ids: string[], options: ResetOptions) =>
      steer(reset, (to) => (context) => to.reset(context, ids, options)),
    );
}
