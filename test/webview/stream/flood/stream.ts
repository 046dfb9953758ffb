// A stream whose agent writes 1,000 lines a second behind 100,000 lines.

import { DroverStream } from '../../../../webview/stream/drover-stream.ts';
import { floodHost } from './flood-host.ts';

const stream = new DroverStream();
stream.host = floodHost({ agents: 1, linesPerSecond: 1_000, linesBefore: 100_000 });
document.body.append(stream);
