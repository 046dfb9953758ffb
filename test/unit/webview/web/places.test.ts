// Addresses of the page: going back, reloading and links from webhooks lead to the same place.

import assert from 'node:assert/strict';
import { webhookLink } from '../../../../server/core/webhooks/webhook-events.ts';
import { placeUrl, panelPlace, parsePlace, parseProject } from '../../../../webview/web/places.ts';

const project = '0123456789ab';

suite('addresses of the page', () => {
  for (const place of [
    panelPlace('board'),
    panelPlace('inbox', 'question-1'),
    { ...panelPlace('stream', 'a/b c'), attempt: 2 },
    { name: 'review', id: 'epic-1' } as const,
    { name: 'devices' } as const,
  ]) {
    test(`they lead back to ${JSON.stringify(place)}, with and without a project`, () => {
      const [alone, within] = [placeUrl(place, null), placeUrl(place, project)];
      assert.deepEqual([parsePlace(alone), parsePlace(within)], [place, place]);
      assert.deepEqual([parseProject(alone), parseProject(within)], [null, project]);
    });
  }

  test("a webhook's link leads to the question, to the waiting item, or to the task", () => {
    const event = {
      seq: 1,
      at_ms: 1,
      type: 'x',
      task_id: 'task-1',
      epic_id: null,
      run_id: null,
      data: {},
    };
    const link = (name: Parameters<typeof webhookLink>[2], more: object = {}): string =>
      webhookLink('https://d.example/', project, name, { ...event, ...more });
    const question = link('question.asked', { data: { question: 'question-1' } });
    assert.equal(question, `https://d.example/#/~${project}/inbox/question-1`);
    assert.equal(link('task.failed'), `https://d.example/#/~${project}/inbox/task-1`);
    assert.equal(link('task.completed'), `https://d.example/#/~${project}/stream/task-1`);
    assert.equal(link('run.ended', { task_id: null }), `https://d.example/#/~${project}/run`);
    assert.deepEqual(parsePlace(new URL(question).hash), panelPlace('inbox', 'question-1'));
  });
});
