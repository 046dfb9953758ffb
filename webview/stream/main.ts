// The stream panel's page. A single click in the tree reuses it for another task.

import { connectHost, type Host } from '../shared/host.ts';
import { DroverStream } from './drover-stream.ts';

function show(host: Host): void {
  document.querySelector('drover-stream')?.remove();
  const stream = new DroverStream();
  stream.host = host;
  document.body.append(stream);
}

show(connectHost(show));
