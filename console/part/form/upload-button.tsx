// Takes a file of the user's machine to the service; what comes back is its URL there.
import { useRef, useState } from 'preact/hooks';
import { messageOf } from '../../state/api.ts';
import { canUpload, uploadFile } from '../../state/uploads.ts';
import { Button } from '../basic.tsx';
import { tell } from '../dialog.tsx';

export function UploadButton({ onUrl }: { readonly onUrl: (url: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [share, setShare] = useState<number>();
  if (!canUpload()) return null;
  const send = async (file: File | undefined) => {
    if (file === undefined) return;
    setShare(0);
    try {
      const { url } = await uploadFile(file, { onProgress: setShare });
      onUrl(url);
    } catch (thrown) {
      tell(messageOf(thrown));
    } finally {
      setShare(undefined);
    }
  };
  return (
    <>
      <Button icon="upload" disabled={share !== undefined} onClick={() => input.current?.click()}>
        {share === undefined ? 'Upload' : `${Math.round(share * 100)} %`}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File to upload"
        onChange={(event) => void send(event.currentTarget.files?.[0])}
      />
    </>
  );
}
