// The page on which every route can be tried. Its script comes with a package, nothing from afar.
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Reply } from '../../service/route/request.ts';
import { escapeHtml } from '../../util/html.ts';

/** @param base what stands before the paths of this server */
export function apiPage(base: string): string {
  const configuration = {
    url: `${base}/openapi.json`,
    withDefaultFonts: false,
    hideDownloadButton: false,
    telemetry: false,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    defaultOpenAllTags: false,
    metaData: { title: 'Rowan API' },
  };
  const json = JSON.stringify(configuration).replaceAll('<', '\\u003c');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>API - Rowan</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="api"></div>
<script src="${escapeHtml(base)}/doc/api/scalar.js"></script>
<script>Scalar.createApiReference('#api', ${json});</script>
</body>
</html>
`;
}

/** The script of the page. */
export function apiScript(): Reply {
  const { resolve } = createRequire(import.meta.url);
  const folder = dirname(resolve('@scalar/fastify-api-reference'));
  return {
    status: 200,
    contentType: 'text/javascript; charset=utf-8',
    headers: { 'Cache-Control': 'max-age=86400' },
    stream: createReadStream(join(folder, 'js/standalone.js')),
  };
}
