// How a command finds its project: at once, after the connection, or not at all.

import assert from 'node:assert/strict';
import type { CommandContext, CommandHandler } from '../../../extension/commands/context.ts';
import { withProject } from '../../../extension/commands/context.ts';
import { Commands, type CommandPlace } from '../../../extension/commands/commands.ts';
import type { CommandId } from '../../../extension/ids.ts';
import type { Project } from '../../../extension/project/project.ts';
import type { Connection } from '../../../webview/messages/messages.ts';

const connected: Connection = { kind: 'connected', version: '1.0.0', root: '/repository' };
const stopped: Connection = {
  kind: 'unavailable',
  reason: 'backend_failed',
  message: 'The backend was stopped.',
  action: null,
};

function projectThat(settles: Connection): Project {
  return { settled: async () => settles } as Project;
}

suite('commands', () => {
  const told: string[] = [];
  const called: string[] = [];
  let connection: Connection = { kind: 'connecting' };
  const context = (args: readonly unknown[]): CommandContext =>
    ({
      args,
      projects: { connection },
      messages: { tell: (_level: string, text: string) => told.push(text) },
    }) as unknown as CommandContext;
  const handlers = {
    'drover.showTree': async ({ args }, { ids }, project) => {
      called.push(`free ${args.length} ${ids.join()} ${project === null ? 'alone' : 'with'}`);
    },
    'drover.runEpic': withProject(async (_context, _project, { ids, isExplicit }) => {
      called.push(`run ${ids.join()} ${isExplicit ? 'explicit' : 'selected'}`);
    }),
  } satisfies { readonly [Id in CommandId]?: CommandHandler };
  const { run } = new Commands(handlers as never, context);
  const at = (project: Project | null, ...selection: readonly string[]): CommandPlace => {
    return { project, selection };
  };

  setup(() => {
    told.length = 0;
    called.length = 0;
    connection = { kind: 'connecting' };
  });

  test('a command that needs no project runs without one', async () => {
    await run('drover.showTree', [], at(null, 'task-1'));
    assert.deepEqual(called, ['free 0 task-1 alone']);
  });

  test('a command that needs a project waits for it, and applies to the item that it was called on', async () => {
    await run('drover.runEpic', [{ epic: 'epic-1' }], at(projectThat(connected), 'task-1'));
    await run('drover.runEpic', [{}], at(projectThat(connected), 'task-1'));
    assert.deepEqual(called, ['run epic-1 explicit', 'run task-1 selected']);
    assert.deepEqual(told, []);
  });

  test('without a connected project, a command gives the reason and does nothing', async () => {
    await run('drover.runEpic', [], at(projectThat(stopped)));
    await run('drover.runEpic', [], at(projectThat({ kind: 'connecting' })));
    connection = stopped;
    await run('drover.runEpic', [], at(null));
    assert.deepEqual(called, []);
    const why = 'The backend was stopped.';
    assert.deepEqual(told, [why, 'Drover is still connecting.', why]);
  });

  test("a handler's error reaches the caller", async () => {
    const broken = new Commands(
      { 'drover.stopRun': withProject(() => Promise.reject(new Error('no'))) } as never,
      context,
    );
    await assert.rejects(
      broken.run('drover.stopRun', [], at(projectThat(connected))),
      /^Error: no/,
    );
  });
});
