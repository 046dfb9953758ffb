// The stream panel's page. A single click in the tree reuses it for another task.

import { connectHost, type Host } from '../shared/host.ts';
import { DroverStream } from './drover-stream.ts';

let shown: DroverStream | null = null;

function rest(): void {
  shown?.rememberNow();
  shown?.remove();
  shown = null;
}

function show(host: Host): void {
  shown = new DroverStream();
  shown.host = host;
  document.body.append(shown);
}

show(connectHost({ rest, show }));
