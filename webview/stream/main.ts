// The stream panel's page.

import { connectHost } from '../shared/host.ts';
import { DroverStream } from './drover-stream.ts';

const stream = new DroverStream();
stream.host = connectHost();
document.body.append(stream);
