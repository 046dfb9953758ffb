// C01, C04, C05, C14–C17, C29, C36, C37, C42, C45: a whole job against a runtime of upstream's form.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { err } from '../../../../server/core/failure.ts';
import type { StockWorker } from '../../../doubles/stock-worker.ts';
import { useStockJobs } from '../../../workers/support/stock-jobs.ts';

suite('a job on a worker', () => {
  const jobs = useStockJobs();
  const { ran, slot } = jobs;

  test('the work arrives completely, with its exit code, and the instance is destroyed', async () => {
    const { outcome, provisioner, lines } = await ran();
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 3, signal: null });
    assert.deepEqual(slot(), ['a.txt', 'c.txt']);
    assert.equal(readFileSync(join(jobs.root, 'c.txt'), 'utf8'), 'do it');
    assert.deepEqual(lines, ["it's task-1's"]);
    assert.equal(provisioner.destroyed.length, 1);
    assert.deepEqual(readdirSync(join(jobs.folder, 'leases')), []);
  });

  test('C04 every request has the token of the instance, which is new each time', async () => {
    const { provisioner } = await ran({
      stock: (count) => (count === 1 ? { refusals: [404], downloadStatus: 404 } : {}),
    });
    const [first, second] = provisioner.specs;
    assert.match(first?.token ?? '', /^[0-9a-f]{64}$/);
    assert.notEqual(first?.token, second?.token);
    provisioner.seen.forEach((worker, n) => {
      assert.deepEqual([...worker.authorizations], [`Bearer ${provisioner.specs[n]?.token}`]);
    });
  });

  test('C05 health: repeated 503 answers are waited for, and only 401 means a rejected token', async () => {
    assert.equal((await ran({ stock: () => ({ health: [503, 503] }) })).outcome.kind, 'ran');
    const { outcome } = await ran({ stock: () => ({ health: [401, 401, 401] }) });
    assert.ok(outcome.kind === 'failed');
    assert.equal(outcome.message, 'The worker rejects the token.');
  });

  test('C14 an upload that is answered with 401 and then cut off is reported as refused', async () => {
    const { outcome } = await ran({
      stock: () => ({
        answers: (route, request, response) => {
          if (route !== 'POST /workspace') return false;
          response.writeHead(401).end('unauthorized', () => request.socket.destroy());
          return true;
        },
      }),
    });
    assert.ok(outcome.kind === 'failed');
    assert.match(outcome.message, /refused the upload: 401/);
  });

  test('C15 after a refused upload, no command is sent, and the instance is destroyed', async () => {
    for (const uploadStatus of [400, 500]) {
      const { outcome, provisioner } = await ran({ stock: () => ({ uploadStatus }) });
      assert.ok(outcome.kind === 'failed');
      assert.match(outcome.message, new RegExp(`refused the upload: ${uploadStatus}`));
      const asked = provisioner.seen.flatMap((worker) => worker.requests);
      assert.ok(asked.includes('POST /workspace') && !asked.includes('POST /exec'));
      assert.equal(provisioner.destroyed.length, provisioner.specs.length);
      assert.deepEqual(readdirSync(join(jobs.folder, 'leases')), []);
    }
  });

  test('an upload that a network failure interrupts is repeated on another instance', async () => {
    const { outcome, provisioner } = await ran({
      stock: (count) => ({
        answers: (route, request) => {
          if (count > 1 || route !== 'POST /workspace') return false;
          request.socket.destroy();
          return true;
        },
      }),
    });
    assert.equal(outcome.kind, 'ran');
    assert.deepEqual([provisioner.specs.length, provisioner.destroyed.length], [2, 2]);
  });

  test('a result that a network failure interrupts is fetched again from the same instance, and the job ran once', async () => {
    let downloads = 0;
    const { outcome, provisioner } = await ran({
      stock: () => ({
        answers: (route, request, response) => {
          if (route !== 'GET /workspace') return false;
          downloads += 1;
          if (downloads > 2) return false;
          if (downloads === 1) request.socket.destroy();
          else response.writeHead(200).write('\x1f\x8b', () => request.socket.destroy());
          return true;
        },
      }),
    });
    assert.equal(outcome.kind, 'ran');
    assert.deepEqual([downloads, provisioner.specs.length], [3, 1]);
    const commands = provisioner.seen.flatMap((worker) => worker.requests);
    assert.equal(commands.filter((line) => line === 'POST /exec').length, 1);
  });

  test('an instance that a person destroyed is replaced after one failed connection', async () => {
    let connects = 0;
    const { outcome, provisioner } = await ran({
      stock: (count) => ({
        answers: (_route, request) => {
          if (count > 1 || request.url?.includes('stream') !== true) return false;
          connects += 1;
          const leases = join(jobs.folder, 'leases');
          for (const name of readdirSync(leases)) rmSync(join(leases, name));
          request.socket.destroy();
          return true;
        },
      }),
    });
    assert.equal(outcome.kind, 'ran');
    assert.deepEqual([connects, provisioner.specs.length], [1, 2]);
  });

  test('C16 a prompt with any content and 300 KiB arrives unchanged', async () => {
    const prompt = `'"$(touch x)\`id\`\n${'ü'.repeat(150_000)}\n`;
    await ran({ prompt });
    assert.equal(readFileSync(join(jobs.root, 'c.txt'), 'utf8'), prompt);
  });

  test('C17 an exec without a usable job id is not repeated on that instance', async () => {
    for (const execReply of ['{}', 'nonsense', '{"job_id":"../x"}']) {
      const { outcome, provisioner } = await ran({ stock: () => ({ execReply }) });
      assert.equal(outcome.kind, 'failed');
      for (const worker of provisioner.seen) {
        assert.equal(worker.requests.filter((line) => line === 'POST /exec').length, 1);
      }
    }
  });

  test('a lost job runs on another instance, and after three the attempt fails', async () => {
    const once = await ran({
      stock: (count) => (count === 1 ? { refusals: [404], downloadStatus: 404 } : {}),
    });
    assert.equal(once.outcome.kind, 'ran');
    assert.equal(once.provisioner.specs.length, 2);
    const never = await ran({ stock: () => ({ refusals: [404], downloadStatus: 404 }) });
    assert.ok(never.outcome.kind === 'failed');
    assert.ok(never.outcome.retryable);
    assert.equal(never.provisioner.destroyed.length, 3);
  });

  test('C22 also: if a runtime loses the end, the file that the job leaves is read', async () => {
    const { outcome } = await ran({ stock: () => ({ losesDone: true }) });
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 3, signal: null });
  });

  test('C29 a stopped job is asked to end, its work is fetched, and the instance is destroyed', async () => {
    const stop = new AbortController();
    const { outcome, provisioner } = await ran({
      script: 'echo made > c.txt; rm b.txt; echo begun; exec sleep 30',
      stop: stop.signal,
      onLine: (line) => line === 'begun' && stop.abort(),
    });
    assert.deepEqual(outcome, { kind: 'stopped' });
    assert.deepEqual(slot(), ['a.txt', 'c.txt']);
    assert.equal(provisioner.destroyed.length, 1);
  });

  test('a hostile archive fails the job permanently and changes nothing', async () => {
    const { outcome, provisioner } = await ran({
      stock: () => ({ archive: () => Buffer.from('x') }),
    });
    assert.equal(outcome.kind, 'failed');
    assert.deepEqual(slot(), ['a.txt', 'b.txt']);
    assert.ok(provisioner.specs.length >= 1);
  });

  test('a destruction that fails four times then succeeds, and its lease is removed', async () => {
    const late = await ran({ prepare: (provisioner) => (provisioner.refusals = 4) });
    assert.equal(late.outcome.kind, 'ran');
    assert.deepEqual(readdirSync(join(jobs.folder, 'leases')), []);
  });

  test('C01 if creating an instance fails, the instance is destroyed unless it is known not to exist', async () => {
    for (const isCertain of [false, true]) {
      const { outcome, provisioner } = await ran({
        prepare: (made) => {
          made.create = async () => err({ message: 'no room.', isCertain });
        },
      });
      const message = 'The worker could not be created: no room.';
      assert.deepEqual(outcome, { kind: 'failed', retryable: true, message });
      assert.equal(provisioner.destroyed.length, isCertain ? 0 : 1);
      assert.deepEqual(readdirSync(join(jobs.folder, 'leases')), []);
    }
  });

  test('C36 concurrent jobs are independent: a failing job neither ends nor changes another one', async () => {
    const [good, bad] = await Promise.all([
      ran({ script: 'cat > c.txt; echo good' }),
      ran({ place: 'second', stock: () => ({ uploadStatus: 500 }) }),
    ]);
    assert.deepEqual(good.outcome, { kind: 'ran', exitCode: 0, signal: null });
    assert.equal(bad.outcome.kind, 'failed');
    assert.deepEqual(slot(), ['a.txt', 'b.txt', 'c.txt']);
    const tokens = [good, bad].flatMap(({ provisioner }) =>
      provisioner.specs.map(({ token }) => token),
    );
    assert.equal(new Set(tokens).size, tokens.length);
  });

  test('C37 a job that changes nothing writes nothing', async () => {
    const before = statSync(join(jobs.root, 'a.txt')).mtimeMs;
    const { outcome, notes } = await ran({ script: 'cat > /dev/null' });
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 0, signal: null });
    assert.match(notes, /Result fetched: 0 written, 0 removed\./);
    assert.equal(statSync(join(jobs.root, 'a.txt')).mtimeMs, before);
  });

  test('C42 no token is in output, notes, errors or leases, even if the worker repeats it everywhere', async () => {
    const { provisioner, lines, notes } = await ran({ script: 'echo "I am $TOLD"' });
    const token = provisioner.specs[0]?.token ?? '';
    assert.deepEqual(lines, ['I am [hidden]']);
    assert.ok(token !== '' && !notes.includes(token));
    const refused = await ran({ stock: () => ({ execStatus: 500 }) });
    assert.ok(refused.outcome.kind === 'failed');
    assert.match(refused.outcome.message, /500 you are Bearer \[hidden\]/);
    for (const { token: one } of refused.provisioner.specs) {
      assert.ok(!`${refused.outcome.message}${refused.notes}`.includes(one));
    }
    assert.ok([...provisioner.leasesSeen, ...refused.provisioner.leasesSeen].length > 0);
    for (const text of provisioner.leasesSeen) assert.ok(!text.includes(token));
  });

  test('C45 a job that is canceled before the creation answers waits for it and destroys the instance', async () => {
    const stop = new AbortController();
    const { outcome, provisioner } = await ran({
      stop: stop.signal,
      prepare: (made) => {
        const create = made.create.bind(made);
        made.create = async (spec) => {
          stop.abort();
          return await create(spec);
        };
      },
    });
    assert.deepEqual(outcome, { kind: 'stopped' });
    assert.equal(provisioner.destroyed.length, 1);
    assert.deepEqual(
      provisioner.seen.flatMap(({ requests }) => requests),
      [],
    );
  });

  test('the work of a running job is fetched from time to time, and is used when its worker is lost', async () => {
    const script = [
      'cat > /dev/null',
      'if [ -e half.txt ]; then cp half.txt whole.txt; rm half.txt b.txt; exit 0; fi',
      'echo half > half.txt; echo changed > a.txt; exec sleep 60',
    ].join('\n');
    let first: StockWorker | undefined;
    let poll: NodeJS.Timeout | undefined;
    const { outcome, provisioner } = await ran({
      script,
      stock: () => ({ features: 'partial' }),
      prepare: (made) => {
        poll = setInterval(() => {
          [first] = made.seen;
          if (!slot().includes('half.txt') || first === undefined) return;
          clearInterval(poll);
          assert.deepEqual(slot(), ['a.txt', 'b.txt', 'half.txt'], 'nothing is removed');
          assert.equal(readFileSync(join(jobs.root, 'a.txt'), 'utf8'), 'changed\n');
          void first.close();
        }, 10);
      },
    }).finally(() => clearInterval(poll));
    assert.deepEqual(outcome, { kind: 'ran', exitCode: 0, signal: null });
    assert.equal(provisioner.specs.length, 2);
    assert.deepEqual(slot(), ['a.txt', 'whole.txt']);
    assert.equal(readFileSync(join(jobs.root, 'a.txt'), 'utf8'), 'changed\n');
    assert.deepEqual(
      readdirSync(jobs.folder).filter((name) => name.includes('scratch')),
      [],
    );
  });
});
