// The table that decides how lines move, as literal cases: each row, and the neighbours of each
// row.

import assert from 'node:assert/strict';
import {
  decide,
  type KnownLine,
  type LineFacts,
  type LineStep,
  type Relation,
} from '../../../../server/core/line/decide.ts';

const L = 'l'.repeat(40);
const T = 't'.repeat(40);
const F = 'f'.repeat(40);
const old = '0'.repeat(40);

/** L and T exist, and T is at the commit at which Drover saw it last. */
const plain: LineFacts = {
  branch: 'main',
  line: L,
  target: T,
  known: { landed: L, followed: T },
  isOurs: true,
  relation: 'line_ahead',
  holdsFollowed: true,
  waiting: 1,
  ungated: null,
  isRemembered: false,
};

const known = (landed: string, followed: string | null): { readonly known: KnownLine } => ({
  known: { landed, followed },
});
const noBranch = { target: null, relation: null };
const noLine = { line: null, relation: null, isOurs: true, waiting: 0 };
const same = { target: L, relation: 'same', waiting: 0 } as const;
const ahead = { relation: 'target_ahead', waiting: 0 } as const;
const epic = { branch: 'drover/epic/E' };
const removed = { holdsFollowed: false, ...known(L, F) };
const remembered = { isRemembered: true };

const adopt: LineStep = { kind: 'adopt', target: T, leaves: null };
const goBack: LineStep = { kind: 'adopt', target: T, leaves: L };
const follow: LineStep = { kind: 'follow', tip: L };
const merge: LineStep = { kind: 'merge', target: T, tip: L };
const replay: LineStep = { kind: 'replay', target: T, tip: L };
const rest: LineStep = { kind: 'rest', tip: L };
const note: LineStep = { kind: 'note', tip: L };
const look: LineStep = { kind: 'look' };
const foreign: LineStep = { kind: 'hold', hold: { kind: 'foreign', found: L, last: old } };
const gone = (followed: string): LineStep => ({ kind: 'hold', hold: { kind: 'gone', followed } });
const lost = (landed: string): LineStep => ({ kind: 'hold', hold: { kind: 'lost', landed } });
const ungated: LineStep = {
  kind: 'hold',
  hold: { kind: 'ungated', task: 't1', target: T, back: L },
};

type Case = readonly [string, Partial<LineFacts>, LineStep];

const tables: Readonly<Record<string, readonly Case[]>> = {
  'T = L': [
    ['rests', { ...same, ...known(L, L) }, rest],
    ['is noted if the store has another F', { ...same, ...known(L, F) }, note],
    ['is noted if the store has another L', { ...same, ...known(old, L) }, note],
    ['is noted if the branch was never followed', { ...same, ...known(L, null) }, note],
    ['is noted if the line is unknown', { ...same, known: null }, note],
    ['rests although an attempt is in both', { ...same, ...known(L, L), ungated: 't1' }, rest],
    ['is held if another hand wrote L', { ...same, ...known(old, old), isOurs: false }, foreign],
    ['of an epic rests as well', { ...same, ...known(L, L), ...epic }, rest],
  ],
  'T = F, and work waits': [
    ['follows', {}, follow],
    ['follows for several landings at once', { waiting: 7 }, follow],
    ['follows if a move was not recorded before a death', known(old, T), follow],
    ['follows on the line of an epic', epic, follow],
    ['follows if F is unknown', known(L, null), follow],
    ['does not follow a tip of another hand', { ...known(old, T), isOurs: false }, foreign],
    [
      'goes back if people took off all that L has more, and Drover died before L moved',
      { waiting: 0 },
      goBack,
    ],
  ],
  'T contains L': [
    ['adopts T if nothing waits', { ...ahead, ...known(L, L) }, adopt],
    ['adopts T if people merged all that waited', { ...ahead, ...known(L, F), waiting: 2 }, adopt],
    ['adopts T if F is unknown', { ...ahead, ...known(L, null) }, adopt],
    ['adopts T although an older state was removed', { ...ahead, ...removed }, adopt],
    ['adopts T on the line of an epic', { ...ahead, ...epic, ...known(L, L) }, adopt],
    ['holds work of an agent that passed no gate', { ...ahead, ungated: 't1' }, ungated],
    [
      'is held if another hand wrote L',
      { ...ahead, ...known(old, old), isOurs: false, ungated: 't1' },
      foreign,
    ],
  ],
  'T is ahead of F, and work waits': [
    ['merges T', { relation: 'apart', ...known(L, F) }, merge],
    ['merges T if F is unknown', { relation: 'apart', ...known(L, null) }, merge],
    ['merges T into the line of an epic', { relation: 'apart', ...epic }, merge],
    [
      'follows once L has taken T in, although T went on from F',
      { relation: 'line_ahead', ...known(L, F) },
      follow,
    ],
    ['holds work of an agent that passed no gate', { relation: 'apart', ungated: 't1' }, ungated],
  ],
  'T does not contain F, and nothing waits': [
    ['adopts T after a reset', { ...removed, waiting: 0 }, goBack],
    ['adopts T after an amend', { ...removed, waiting: 0, relation: 'apart' }, goBack],
    ['adopts T of an epic', { ...removed, ...epic, waiting: 0 }, goBack],
    ['holds an attempt that passed no gate', { ...removed, waiting: 0, ungated: 't1' }, ungated],
  ],
  'T does not contain F, and work waits': [
    ['replays it after a reset', removed, replay],
    ['replays it after an amend', { ...removed, relation: 'apart' }, replay],
    ['replays all of it', { ...removed, relation: 'apart', waiting: 5 }, replay],
    ['replays it on the line of an epic', { ...removed, ...epic }, replay],
    [
      'does not replay a tip of another hand',
      { ...removed, ...known(old, F), isOurs: false },
      foreign,
    ],
    ['holds an attempt that passed no gate', { ...removed, ungated: 't1' }, ungated],
  ],
  'T is gone': [
    ['holds the line', { ...noBranch, ...known(L, F) }, gone(F)],
    ['holds the line although nothing waits', { ...noBranch, ...known(L, L), waiting: 0 }, gone(L)],
    ['makes the branch of an epic again', { ...noBranch, ...epic, ...known(L, F) }, follow],
    ['makes a branch that was never followed', { ...noBranch, ...known(L, null) }, follow],
    ['makes a branch of an unknown line', { ...noBranch, known: null }, follow],
    [
      'holds a tip of another hand first',
      { ...noBranch, ...known(old, F), isOurs: false },
      foreign,
    ],
  ],
  'L is gone': [
    [
      'starts at the branch if the line is unknown',
      { ...noLine, known: null },
      { kind: 'make', tip: T, from: 'branch' },
    ],
    [
      'starts at the branch if nothing waited',
      { ...noLine, ...known(L, L) },
      { kind: 'make', tip: T, from: 'branch' },
    ],
    [
      'is made again if work waited',
      { ...noLine, ...known(L, F) },
      { kind: 'make', tip: L, from: 'store' },
    ],
    [
      'is made again if the branch was never followed',
      { ...noLine, ...known(L, null) },
      { kind: 'make', tip: L, from: 'store' },
    ],
    [
      'is made again if the branch is gone as well, and work waited',
      { ...noLine, ...noBranch, ...known(L, F) },
      { kind: 'make', tip: L, from: 'store' },
    ],
    ['is held if the branch is gone as well', { ...noLine, ...noBranch, ...known(L, L) }, lost(L)],
    ['of an epic is held too', { ...noLine, ...noBranch, ...epic, ...known(L, L) }, lost(L)],
    ['is absent if nothing ever was', { ...noLine, ...noBranch, known: null }, { kind: 'absent' }],
  ],
  'in a fleet, with the refs of the last fetch': [
    ['rests', { ...same, ...known(L, L), ...remembered }, rest],
    ['follows a tip that the store knows', remembered, follow],
    ['asks before it follows an older tip', { ...known(old, T), ...remembered }, look],
    ['asks before it notes an older tip', { ...same, ...known(old, L), ...remembered }, look],
    ['adopts what only adds', { ...ahead, ...remembered }, adopt],
    ['asks before it leaves landings out', { ...removed, waiting: 0, ...remembered }, look],
    ['asks before it replays', { ...removed, ...remembered }, look],
    ['asks before it holds', { ...known(old, old), isOurs: false, ...remembered }, look],
    [
      'asks before it believes that a branch is gone',
      { ...noBranch, ...remembered, ...known(L, F) },
      look,
    ],
    ['asks before it makes a line', { ...noLine, known: null, ...remembered }, look],
    [
      'asks before it calls a branch absent',
      { ...noLine, ...noBranch, known: null, ...remembered },
      look,
    ],
  ],
};

for (const [row, cases] of Object.entries(tables))
  suite(`line: ${row}`, () => {
    for (const [what, facts, step] of cases)
      test(what, () => assert.deepEqual(decide({ ...plain, ...facts }), step));
  });

suite('line: all facts together', () => {
  const relations: readonly Relation[] = ['same', 'line_ahead', 'target_ahead', 'apart'];
  const yesNo = [true, false];
  const every = relations.flatMap((relation) =>
    yesNo.flatMap((isOurs) =>
      yesNo.flatMap((holdsFollowed) =>
        [0, 1].flatMap((waiting) =>
          ['t1', null].map((task) => {
            const target = relation === 'same' ? L : T;
            return { ...plain, relation, target, isOurs, holdsFollowed, waiting, ungated: task };
          }),
        ),
      ),
    ),
  );
  const kinds = (filter: (facts: LineFacts) => boolean): readonly string[] => [
    ...new Set(every.filter(filter).map((facts) => decide(facts).kind)),
  ];

  test('no branch moves if people removed something', () => {
    const found = kinds(({ holdsFollowed, relation }) => !holdsFollowed && relation !== 'same');
    assert.deepEqual(found.toSorted(), ['adopt', 'hold', 'replay']);
  });

  test('no waiting landing is left out', () => {
    const left = every.filter(({ waiting }) => waiting > 0).map(decide);
    assert.ok(left.every((step) => step.kind !== 'adopt' || step.leaves === null));
  });

  test('a tip that someone else wrote only holds the line', () => {
    assert.deepEqual(
      kinds(({ isOurs }) => !isOurs),
      ['hold'],
    );
  });

  test('work that passed no gate never lands', () => {
    const found = kinds(({ ungated: task, relation }) => task !== null && relation !== 'same');
    assert.deepEqual(found, ['hold']);
  });
});
