import { useId, useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import { useAction } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { messages } from '../messages.en.ts'
import type { Share } from './access.ts'

const texts = messages.sharing

/** Asks who becomes the owner of the document, and explains the consequences. */
export function TransferDialog(
  props: PanelProps & { readonly shares: readonly Share[]; readonly onDone: () => void; readonly onClose: () => void },
) {
  const { session, document, shares, onDone, onClose } = props
  const id = useId()
  const [to, setTo] = useState('')
  const giving = useAction()
  const give = () => {
    const sub = to.trim()
    if (sub === '') return
    giving.run(async () => {
      await session.relay.documents.transfer(document.id, sub)
      session.announce(texts.transferred(sub))
      onDone()
      onClose()
    })
  }
  return (
    <Dialog
      title={texts.transferTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{messages.controls.cancel}</Button>
          <Button kind="danger" disabled={giving.isRunning || to.trim() === ''} onClick={give}>
            {texts.transferButton}
          </Button>
        </>
      }
    >
      <p>{texts.transferWords}</p>
      <div class="field">
        <label for={id}>{texts.transferTo}</label>
        <input
          id={id}
          type="text"
          value={to}
          list={`${id}-people`}
          autocomplete="off"
          onInput={({ currentTarget }) => setTo(currentTarget.value)}
          onKeyDown={({ key, isComposing }) => key === 'Enter' && !isComposing && give()}
        />
      </div>
      <datalist id={`${id}-people`}>
        {shares.map(({ userId, userName }) => (
          <option key={userId} value={userId}>
            {userName ?? userId}
          </option>
        ))}
      </datalist>
      <Problem words={giving.problem} />
    </Dialog>
  )
}
