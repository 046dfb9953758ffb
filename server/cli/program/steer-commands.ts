// Commands by which a person decides about a task.

import type { Command } from 'commander';
import type { ResetOptions } from '../commands/steer.ts';
import { define, type Handler, type ProgramHost, wholeNumber } from './options.ts';

const load = async () => await import('../commands/steer.ts');

type Steer = Awaited<ReturnType<typeof load>>;

export function defineSteerCommands(program: Command, host: ProgramHost): void {
  program.commandsGroup('Decide:');
  const steer = (command: Command, choose: (commands: Steer) => Handler): Promise<void> =>
    host.run(command, async (context) => await choose(await load())(context));

  const approve = define(
    program,
    'approve <id>',
    'let a reviewed task or epic land, or a plan be built',
    ['approve task-2m8x4q1z', 'approve task-2m8x4q1z --plan-file plan.md'],
  );
  approve
    .option('--plan-file <file>', 'approve its plan as this file says it (- = standard input)')
    .action((id: string, options: { planFile?: string }) =>
      steer(approve, (to) => (context) => to.approve(context, id, options)),
    );

  const back = define(program, 'send-back <id> <text>', 'hand a change back with what is wrong', [
    'send-back task-2m8x4q1z "The French greeting is Spanish."',
  ]);
  back.action((id: string, text: string) =>
    steer(back, (to) => (context) => to.sendBack(context, id, text)),
  );

  const undo = define(
    program,
    'undo <id>',
    'revert the landing of a task or an epic, through its gate',
    ['undo task-2m8x4q1z --dry-run', 'undo epic-7h2k9d3f'],
  );
  undo
    .option('--dry-run', 'only list what it reverts and what depends on it')
    .action((id: string, options: { dryRun?: boolean }) =>
      steer(undo, (to) => (context) => to.undo(context, id, options)),
    );

  const pause = define(program, 'pause <id>', 'stop the agent of a task, keep its work', [
    'pause task-2m8x4q1z',
  ]);
  pause.action((id: string) => steer(pause, (to) => (context) => to.pause(context, id)));

  const unpause = define(program, 'resume-task <id>', 'let a paused task go on', [
    'resume-task task-2m8x4q1z --hint "Use the existing parser."',
  ]);
  unpause
    .alias('unpause')
    .option('--hint <text>', 'a word to the agent')
    .action((id: string, options: { hint?: string }) =>
      steer(unpause, (to) => (context) => to.unpause(context, id, options)),
    );

  const hint = define(program, 'hint <id> <text>', 'tell the agent something while it works', [
    'hint task-2m8x4q1z "The tests are in test/unit."',
  ]);
  hint.action((id: string, text: string) =>
    steer(hint, (to) => (context) => to.hint(context, id, text)),
  );

  const answer = define(program, 'answer <question-id> <choice>', 'answer an open question', [
    'answer q-41 allow',
  ]);
  answer.action((id: string, choice: string) =>
    steer(answer, (to) => (context) => to.answer(context, id, choice)),
  );
  defineEndings(program, steer);
}

function defineEndings(
  program: Command,
  steer: (command: Command, choose: (commands: Steer) => Handler) => Promise<void>,
): void {
  const resolve = define(program, 'resolve <id>', 'what blocked a task from outside is settled', [
    'resolve task-2m8x4q1z --note "The account exists now."',
  ]);
  resolve
    .requiredOption('--note <text>', 'what was done')
    .action((id: string, options: { note: string }) =>
      steer(resolve, (to) => (context) => to.resolveTask(context, id, options.note)),
    );

  const cancel = define(program, 'cancel <id>', 'give a task up; its work is kept', [
    'cancel task-2m8x4q1z --reason "Not wanted any more."',
  ]);
  cancel
    .option('--reason <text>', 'why')
    .action((id: string, options: { reason?: string }) =>
      steer(cancel, (to) => (context) => to.cancel(context, id, options)),
    );

  const retry = define(program, 'retry <id>', 'let a failed or cancelled task try again', [
    'retry task-2m8x4q1z',
  ]);
  retry
    .option('--force', 'also when its attempts are used up')
    .action((id: string, options: { force?: boolean }) =>
      steer(retry, (to) => (context) => to.retry(context, id, options)),
    );

  const restore = define(program, 'restore <id>', 'let the next attempt begin with a snapshot', [
    'restore task-2m8x4q1z',
    'restore task-2m8x4q1z --snapshot 2',
  ]);
  restore
    .option('--snapshot <n>', 'its number (fallback: the last one)', wholeNumber)
    .action((id: string, options: { snapshot?: number }) =>
      steer(restore, (to) => (context) => to.restore(context, id, options)),
    );

  const reset = define(program, 'reset [ids...]', 'make tasks ready again', [
    'reset',
    'reset --failed',
    'reset task-2m8x4q1z',
  ]);
  reset
    .option('--completed', 'completed ones')
    .option('--failed', 'failed ones')
    .option('--claimed', 'claimed ones')
    .option('--in-progress', 'those in progress')
    .action((ids: string[], options: ResetOptions) =>
      steer(reset, (to) => (context) => to.reset(context, ids, options)),
    );
}
