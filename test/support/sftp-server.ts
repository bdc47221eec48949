// An SSH server with files in memory, or with OpenSSH's own program for files behind it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { AuthContext, Channel, ServerConnection, SFTPServer } from 'ssh2';
import ssh2 from 'ssh2';

const { Server, utils } = ssh2;
const { OK, EOF, NO_SUCH_FILE, PERMISSION_DENIED, FAILURE } = utils.sftp.STATUS_CODE as {
  readonly [name: string]: number;
} as Record<'OK' | 'EOF' | 'NO_SUCH_FILE' | 'PERMISSION_DENIED' | 'FAILURE', number>;

const DIRECTORY_MODE = 0o040755;
const FILE_MODE = 0o100644;
const MTIME = 1_445_412_480;
const WRITE_FLAG = 2;

export const opensshSftpServer = ['/usr/lib/openssh/sftp-server', '/usr/lib/ssh/sftp-server'].find(
  (path) => existsSync(path),
);

/** A few of the keys that the library makes cannot be read, not even by itself. */
export function makeKey(options: { readonly passphrase?: string; readonly cipher?: string } = {}) {
  for (;;) {
    const key = utils.generateKeyPairSync('ed25519', options);
    if (!(utils.parseKey(key.private, options.passphrase) instanceof Error)) return key;
  }
}

export class SftpServer {
  readonly hostKey: { readonly private: string; readonly public: string };
  /** by absolute path */
  readonly files = new Map<string, Buffer>();
  readonly directories = new Set<string>(['']);
  user = { name: 'ann', password: 'lozenge' };
  /** the public key that may be used instead of the password */
  publicKey: string | undefined;
  asksByPrompt = false;
  /** paths that may not be written to */
  readonly protectedPaths = new Set<string>();
  /** most bytes in one answer to a read */
  readSizeMax = 32_768;
  /** the number of writes after which the connection breaks */
  breaksAfterWrites = Number.POSITIVE_INFINITY;
  connectionCount = 0;
  readonly #server: InstanceType<typeof Server>;
  readonly #connections = new Set<ServerConnection>();

  private constructor(private_: string, public_: string, program: string | undefined) {
    this.hostKey = { private: private_, public: public_ };
    this.#server = new Server({ hostKeys: [private_] }, (client) => {
      this.connectionCount++;
      this.#connections.add(client);
      client.setNoDelay(true);
      client.on('error', () => undefined);
      client.on('close', () => this.#connections.delete(client));
      client.on('authentication', (context: AuthContext) => this.#authenticate(context));
      client.on('session', (accept: () => NodeJS.EventEmitter) => {
        const session = accept();
        if (program === undefined) {
          session.on('sftp', (acceptSftp: () => SFTPServer) => this.#serve(acceptSftp(), client));
        } else {
          session.on('subsystem', (acceptSubsystem: () => Channel) =>
            serveByProgram(acceptSubsystem(), program),
          );
        }
      });
    });
  }

  /** @param program serves the files of this machine instead of those in memory */
  static async start(program?: string): Promise<SftpServer> {
    const key = makeKey();
    const server = new SftpServer(key.private, key.public, program);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return this.#server.address().port;
  }

  get origin(): string {
    return `sftp://127.0.0.1:${this.port}`;
  }

  stop(): void {
    for (const connection of this.#connections) connection.end();
    this.#server.close();
  }

  put(path: string, content: string | Buffer): void {
    this.files.set(path, Buffer.from(content));
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      this.directories.add(path.slice(0, end));
    }
  }

  text(path: string): string | undefined {
    return this.files.get(path)?.toString();
  }

  #authenticate(context: AuthContext): unknown {
    const isUser = context.username === this.user.name;
    const methods = ['publickey', this.asksByPrompt ? 'keyboard-interactive' : 'password'];
    if (isUser && context.method === 'password' && !this.asksByPrompt) {
      if (context.password === this.user.password) return context.accept();
    } else if (isUser && context.method === 'keyboard-interactive' && this.asksByPrompt) {
      return context.prompt?.('Password: ', ([answer]) =>
        answer === this.user.password ? context.accept() : context.reject(),
      );
    } else if (isUser && context.method === 'publickey' && this.publicKey !== undefined) {
      const expected = Buffer.from(this.publicKey.split(' ')[1] as string, 'base64');
      // A client without the private key cannot come further than this question.
      if (context.key?.data.equals(expected)) return context.accept();
    }
    return context.reject(methods);
  }

  #serve(sftp: SFTPServer, client: ServerConnection): void {
    let handleCount = 0;
    let writeCount = 0;
    const open = new Map<string, { path: string; isListed: boolean }>();
    const openHandle = (id: number, path: string) => {
      const handle = String(++handleCount);
      open.set(handle, { path, isListed: false });
      sftp.handle(id, Buffer.from(handle));
    };
    const opened = (handle: Buffer) => open.get(handle.toString()) as { path: string };
    sftp.on('OPEN', (id: number, path: string, flags: number) => {
      if ((flags & WRITE_FLAG) === 0) {
        if (!this.files.has(path)) return sftp.status(id, NO_SUCH_FILE);
      } else {
        const parent = path.slice(0, path.lastIndexOf('/'));
        if (!this.directories.has(parent)) return sftp.status(id, NO_SUCH_FILE);
        if (this.protectedPaths.has(parent)) return sftp.status(id, PERMISSION_DENIED);
        this.files.set(path, Buffer.alloc(0));
      }
      openHandle(id, path);
    });
    sftp.on('READ', (id: number, handle: Buffer, offset: number, length: number) => {
      const bytes = this.files.get(opened(handle).path) as Buffer;
      const end = Math.min(offset + Math.min(length, this.readSizeMax), bytes.length);
      if (offset >= end) sftp.status(id, EOF);
      else sftp.data(id, bytes.subarray(offset, end));
    });
    sftp.on('WRITE', (id: number, handle: Buffer, offset: number, data: Buffer) => {
      if (++writeCount > this.breaksAfterWrites) return client.end();
      const { path } = opened(handle);
      const old = this.files.get(path) as Buffer;
      const bytes = Buffer.alloc(Math.max(old.length, offset + data.length));
      old.copy(bytes);
      data.copy(bytes, offset);
      this.files.set(path, bytes);
      sftp.status(id, OK);
    });
    sftp.on('CLOSE', (id: number, handle: Buffer) => {
      open.delete(handle.toString());
      sftp.status(id, OK);
    });
    const stat = (id: number, path: string) => {
      const attrs = this.#attrs(path.length > 1 ? path : '');
      if (attrs === undefined) sftp.status(id, NO_SUCH_FILE);
      else sftp.attrs(id, attrs);
    };
    sftp.on('STAT', stat);
    sftp.on('LSTAT', stat);
    sftp.on('OPENDIR', (id: number, path: string) => {
      if (this.directories.has(path === '/' ? '' : path)) openHandle(id, path);
      else sftp.status(id, NO_SUCH_FILE);
    });
    sftp.on('READDIR', (id: number, handle: Buffer) => {
      const directory = open.get(handle.toString()) as { path: string; isListed: boolean };
      if (directory.isListed) return sftp.status(id, EOF);
      directory.isListed = true;
      const parent = directory.path.replace(/\/$/, '');
      const paths = [...this.files.keys(), ...this.directories].filter(
        (path) => path !== '' && path.slice(0, path.lastIndexOf('/')) === parent,
      );
      const names = paths.map((path) => ({
        filename: path.slice(parent.length + 1),
        longname: path,
        attrs: this.#attrs(path),
      }));
      sftp.name(id, [{ filename: '.', longname: '.', attrs: this.#attrs('') }, ...names]);
    });
    sftp.on('MKDIR', (id: number, path: string) => {
      if (!this.directories.has(path.slice(0, path.lastIndexOf('/')))) {
        return sftp.status(id, NO_SUCH_FILE);
      }
      this.directories.add(path);
      sftp.status(id, OK);
    });
    sftp.on('REMOVE', (id: number, path: string) => {
      sftp.status(id, this.files.delete(path) ? OK : NO_SUCH_FILE);
    });
    // The protocol's own: never over what is there.
    sftp.on('RENAME', (id: number, from: string, to: string) => {
      const bytes = this.files.get(from);
      if (bytes === undefined) return sftp.status(id, NO_SUCH_FILE);
      if (this.files.has(to)) return sftp.status(id, FAILURE);
      this.files.delete(from);
      this.files.set(to, bytes);
      sftp.status(id, OK);
    });
  }

  #attrs(path: string): object | undefined {
    const common = { uid: 0, gid: 0, atime: MTIME, mtime: MTIME };
    if (this.directories.has(path)) return { ...common, mode: DIRECTORY_MODE, size: 0 };
    const bytes = this.files.get(path);
    return bytes === undefined ? undefined : { ...common, mode: FILE_MODE, size: bytes.length };
  }
}

function serveByProgram(channel: Channel, program: string): void {
  const child = spawn(program, ['-e'], { stdio: ['pipe', 'pipe', 'ignore'] });
  channel.pipe(child.stdin);
  child.stdout.pipe(channel);
  channel.on('close', () => child.kill());
  child.stdin.on('error', () => undefined);
}
