// Which addresses of the network may be reached. Every scheme that opens connections asks here.
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { BlockList, isIP } from 'node:net';
import { failure } from '../util/error.ts';

const PRIVATE = new BlockList();
PRIVATE.addSubnet('127.0.0.0', 8, 'ipv4');
PRIVATE.addSubnet('169.254.0.0', 16, 'ipv4');
PRIVATE.addSubnet('0.0.0.0', 8, 'ipv4');
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addAddress('::', 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');

/** Refuses connections to addresses that may not be reached. */
export class AddressGuard {
  readonly #allowsPrivate: boolean;

  /** @param allowsPrivate false: addresses of this machine and of the local link are refused */
  constructor(allowsPrivate: boolean) {
    this.#allowsPrivate = allowsPrivate;
  }

  /**
   * Refuses a host that is written as an address; names are refused by `lookup`.
   * @param url for messages
   * @throws FORBIDDEN
   */
  checkHost(host: string, url: string): void {
    const bare = host.replace(/^\[|\]$/g, '');
    if (isIP(bare) !== 0) this.#check(bare, url);
  }

  /**
   * Resolves names for a connection. The address is checked where it is used, so a name cannot
   * change its meaning in between.
   */
  lookup(url: string): LookupFunction {
    return (host, options, callback) => {
      lookup(host, options, (error, found, family) => {
        if (error === null) {
          try {
            const all =
              typeof found === 'string' ? [{ address: found }] : (found as { address: string }[]);
            for (const { address } of all) this.#check(address, url);
          } catch (refusal) {
            callback(refusal as NodeJS.ErrnoException, '', 4);
            return;
          }
        }
        callback(error, found, family);
      });
    };
  }

  #check(address: string, url: string): void {
    if (this.#allowsPrivate) return;
    if (PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) {
      throw failure(
        'FORBIDDEN',
        `access to addresses of this machine is not allowed: ${url} (--allow-private-urls)`,
        { url },
      );
    }
  }
}

/** Whether traffic to the address stays on this machine. */
export function isLoopbackAddress(address: string): boolean {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
