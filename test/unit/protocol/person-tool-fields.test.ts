// The tools of a person's language model accept the parameters of the requests behind them: each
// field of a tool is a field of the request, has the same type, and is required if that field is
// required.

import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { priorityOfWord } from '../../../server/core/plan/priority.ts';
import type { RequestName } from '../../../server/protocol/api.ts';
import {
  personToolNames,
  personTools,
  type PersonToolName,
} from '../../../server/protocol/person-tools/tools.ts';
import { requestShapes } from '../../../server/protocol/requests/read.ts';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** The request and field that each field of a tool becomes. */
type Ways = Readonly<Record<string, readonly [RequestName, string]>>;

const ways: { readonly [N in PersonToolName]: Ways } = {
  drover_read_board: { epic: ['status', 'epic'] },
  drover_show_task: { id: ['task.show', 'id'] },
  drover_explain_task: { id: ['why', 'id'] },
  drover_add_tasks: { epic: ['task.add', 'epic'] },
  drover_run_epic: { epic: ['run.start', 'epic'] },
  drover_answer_question: { id: ['answer', 'id'], answer: ['answer', 'choice'] },
};

const newTask: Ways = {
  title: ['task.add', 'title'],
  description: ['task.add', 'description'],
  acceptanceCriteria: ['task.add', 'accept'],
  blockedBy: ['task.add', 'blocked_by'],
  priority: ['task.add', 'priority'],
};

/** Fields that no request has. */
const ofTheTool = {
  key: 'names a task inside of the call',
  tasks: 'a list of new tasks',
};

function schemaOf(request: RequestName): JsonSchema {
  const object = z.object<z.core.$ZodShape>(requestShapes[request]);
  return z.toJSONSchema(object, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

/** Types by name; the type of a list includes that of its items. */
function typesOf({ type, items, anyOf }: JsonSchema): readonly string[] {
  if (anyOf !== undefined) return anyOf.flatMap(typesOf);
  const types = [type ?? 'anything'].flat();
  return items === undefined ? types : types.map((each) => `${each} of ${typesOf(items).join()}`);
}

function compare(where: string, schema: JsonSchema, wanted: Ways): void {
  const { properties = {}, required = [] } = schema;
  const own = Object.keys(properties).filter((name) => !Object.hasOwn(ofTheTool, name));
  assert.deepEqual(own.toSorted(), Object.keys(wanted).toSorted(), where);
  for (const [name, [request, field]] of Object.entries(wanted)) {
    const place = `${where}: ${name} and ${request} ${field}`;
    const taken = schemaOf(request);
    const part = taken.properties?.[field];
    assert.ok(part !== undefined, place);
    const [type = ''] = typesOf(properties[name] ?? {});
    assert.ok(typesOf(part).includes(type), `${place}: ${type} is not ${typesOf(part).join('|')}`);
    if (taken.required?.includes(field) === true) assert.ok(required.includes(name), place);
    const read = requestShapes[request] as Readonly<Record<string, z.ZodMiniType>>;
    for (const word of properties[name]?.enum ?? []) {
      assert.ok(read[field]?.safeParse(word).success, `${place}: ${word}`);
    }
  }
}

suite('tools for a language model', () => {
  for (const name of personToolNames) {
    test(`${name} accepts what its request accepts`, () => {
      compare(name, personTools[name].inputSchema as JsonSchema, ways[name]);
    });
  }

  test('a task in drover_add_tasks accepts the fields of task.add', () => {
    const { properties } = personTools.drover_add_tasks.inputSchema as JsonSchema;
    const item = properties?.['tasks']?.items ?? {};
    compare('tasks', item, newTask);
    for (const word of item.properties?.['priority']?.enum ?? ['none']) {
      assert.notEqual(priorityOfWord(word), null, word);
    }
  });
});
