// A process that moves a checkout forward, to be killed in the middle of it.

import { openGitAdapter } from '../../server/git/adapter.ts';
import { valueOf } from './fixture.ts';

const [root = '', tip = '', binary = ''] = process.argv.slice(2);
const repository = valueOf(await openGitAdapter({ binary }).open(root));
valueOf(await repository.follow('main', tip, 'fast-forward'));
