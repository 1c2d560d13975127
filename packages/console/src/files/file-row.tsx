import { useState } from 'preact/hooks'
import { formatBytes } from '../app/amounts.ts'
import { Problem } from '../app/problem.tsx'
import { useAction, useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { useLevel } from '../document/use-live.ts'
import { messages } from '../messages.en.ts'
import type { DocumentFile } from './document-files.ts'
import { removeFile } from './file-edits.ts'

const texts = messages.files

interface FileProps extends PanelProps {
  readonly file: DocumentFile
  readonly onRemoved: () => void
}

/** One file: its name and size, where it is used, and buttons to save and to remove it. */
export function FileRow({ session, document, file, onRemoved }: FileProps) {
  const { relay, announce } = session
  const level = useLevel(document)
  const { hash, name } = file
  const info = useLoaded((signal) => relay.blobs.info(hash, { signal }).then((found) => ({ found })), [relay, hash])
  const saving = useAction()
  const [isAsking, setAsking] = useState(false)
  const isLost = info.value !== null && info.value.found === null
  const sizeBytes = info.value?.found?.size ?? file.sizeBytes
  const mimeType = info.value?.found?.mimeType ?? file.mimeType ?? texts.unknownType
  const pages = [...new Set(file.uses.map(({ page }) => page.name))]

  const save = () =>
    saving.run(async () => {
      const { bytes } = await relay.blobs.download(hash)
      // A type such as text/html would let the browser open the file as a page of this origin.
      const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
      const link = globalThis.document.createElement('a')
      link.href = url
      link.download = name
      link.click()
      // The browser starts the download in a later task.
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
    })
  const remove = () => {
    setAsking(false)
    removeFile(document.ydoc, hash)
    announce(texts.removed(name))
    onRemoved()
  }

  return (
    <li>
      <span class="name">
        {name}
        <span class="facts">
          {sizeBytes === null ? texts.checking : formatBytes(sizeBytes)}, {mimeType}
          <br />
          {texts.usedOn(pages, file.uses.length)}
        </span>
        {isLost && <span class="flaw">{texts.lost}</span>}
        <Problem words={saving.problem} />
      </span>
      <span class="file-buttons">
        <Button label={texts.downloadName(name)} disabled={saving.isRunning || isLost} onClick={save}>
          {texts.download}
        </Button>
        {level !== 'view' && <Button kind="quiet" icon="remove" label={texts.removeName(name)} onClick={() => setAsking(true)} />}
      </span>
      {isAsking && (
        <ConfirmDialog
          title={texts.removeTitle(name)}
          text={texts.removeWords(file.uses.length)}
          action={texts.remove}
          danger
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  )
}
