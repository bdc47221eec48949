// A server and a headless browser to look at it with.
import { type Browser, chromium } from 'playwright-core';
import { Rowan } from '../../src/index.ts';
import type { Logger } from '../../src/service/logger.ts';

export interface BrowserSession {
  /** of the server: scheme, host and port */
  readonly origin: string;
  readonly browser: Browser;
  readonly rowan: Rowan;
  close(): Promise<void>;
}

/** @param listen how the server listens, beside where */
export async function startBrowser(
  executablePath: string | undefined,
  {
    dataDir = null,
    adminKey,
    logger,
    ...listen
  }: {
    readonly assetsPath?: string;
    /** where the service keeps everything; default: it keeps nothing */
    readonly dataDir?: string | null;
    readonly adminKey?: string;
    readonly logger?: Logger;
    readonly hasAccessLog?: boolean;
  } = {},
): Promise<BrowserSession> {
  const rowan = await Rowan.open({
    dataDir,
    ...(adminKey === undefined ? {} : { adminKey }),
    ...(logger === undefined ? {} : { logger }),
  });
  const origin = await rowan.listen({ host: '127.0.0.1', port: 0, ...listen });
  const browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  return {
    origin,
    browser,
    rowan,
    async close() {
      await browser.close();
      await rowan.close();
    },
  };
}
