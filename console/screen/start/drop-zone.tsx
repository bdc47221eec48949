// Takes a file by drop or by choice, pasted text, or an address, and leads to the preview of its import.
import { useRef, useState } from 'preact/hooks';
import { Button, Failure } from '../../part/basic.tsx';
import { go } from '../../route.ts';
import { base } from '../../state/api.ts';
import { canUpload, uploadFile } from '../../state/uploads.ts';

const SAMPLE = 'birdstrikes.csv';

export function DropZone() {
  const input = useRef<HTMLInputElement>(null);
  const abort = useRef<AbortController>(undefined);
  const [isOver, setOver] = useState(false);
  const [sending, setSending] = useState<{ name: string; share: number }>();
  const [error, setError] = useState<unknown>();
  const [url, setUrl] = useState('');
  const takesFiles = canUpload();

  const send = async (file: (Blob & { readonly name: string }) | undefined) => {
    if (file === undefined) return;
    setError(undefined);
    setSending({ name: file.name, share: 0 });
    abort.current = new AbortController();
    try {
      const uploaded = await uploadFile(file, {
        onProgress: (share) => setSending({ name: file.name, share }),
        signal: abort.current.signal,
      });
      go([], { url: uploaded.url });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setSending(undefined);
    }
  };
  const sendSample = async () => {
    const reply = await fetch(`${base}/console/${SAMPLE}`);
    await send(new File([await reply.blob()], SAMPLE));
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.target instanceof HTMLInputElement) return;
    const file = event.clipboardData?.files[0];
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (file !== undefined) void send(file);
    else if (text.includes('\n')) void send(new File([text], 'pasted.csv'));
    else if (/^[a-z0-9]+:\/\//i.test(text)) go([], { url: text.trim() });
  };
  const hold = (event: DragEvent) => {
    event.preventDefault();
    setOver(event.type !== 'dragleave');
  };

  return (
    <section
      class={`drop${isOver ? ' over' : ''}`}
      aria-label="Import data"
      data-region
      tabIndex={-1}
      onPaste={onPaste}
      onDragOver={hold}
      onDragEnter={hold}
      onDragLeave={hold}
      onDrop={(event) => {
        hold(event);
        setOver(false);
        void send(event.dataTransfer?.files[0]);
      }}
    >
      {sending === undefined ? (
        <>
          <h2>{takesFiles ? 'Drop a file here' : 'Import a file'}</h2>
          <p class="dim">CSV, JSON, Parquet or text; also an address, or text that you paste</p>
          <div class="row wrap">
            {takesFiles && (
              <Button kind="primary" icon="upload" onClick={() => input.current?.click()}>
                Choose a file
              </Button>
            )}
            {takesFiles && (
              <Button onClick={() => void sendSample().catch(setError)}>
                Take the sample: bird strikes
              </Button>
            )}
          </div>
          <form
            class="row address"
            onSubmit={(event) => {
              event.preventDefault();
              if (url.trim() !== '') go([], { url: url.trim() });
            }}
          >
            <input
              aria-label="Address of a file"
              placeholder="https://…/data.csv, s3://…, file://…"
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
            <Button type="submit" disabled={url.trim() === ''}>
              Preview
            </Button>
          </form>
        </>
      ) : (
        <>
          <h2>Sending {sending.name}</h2>
          <progress value={sending.share} max={1} aria-label="Upload" />
          <Button icon="stop" onClick={() => abort.current?.abort()}>
            Cancel
          </Button>
        </>
      )}
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File to import"
        onChange={(event) => void send(event.currentTarget.files?.[0])}
      />
      {error !== undefined && <Failure error={error} />}
    </section>
  );
}
