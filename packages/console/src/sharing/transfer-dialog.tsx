import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import { useAction } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import type { Share } from './access.ts'

const texts = messages.sharing

/** Asks to whom the document is given, and says what that means. */
export function TransferDialog(
  props: PanelProps & { readonly shares: readonly Share[]; readonly onDone: () => void; readonly onClose: () => void },
) {
  const { session, document, shares, onDone, onClose } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const [to, setTo] = useState('')
  const giving = useAction()
  useEffect(() => dialog.current?.showModal(), [])
  const give = (event: Event) => {
    event.preventDefault()
    const sub = to.trim()
    if (sub === '') return
    giving.run(async () => {
      await session.relay.documents.transfer(document.id, sub)
      session.announce(texts.transferred(sub))
      onDone()
      dialog.current?.close()
    })
  }
  return (
    <dialog ref={dialog} class="small-dialog" aria-labelledby="transfer-title" onClose={onClose}>
      <form onSubmit={give}>
        <h2 id="transfer-title">{texts.transferTitle}</h2>
        <p>{texts.transferWords}</p>
        <label>
          {texts.transferTo}{' '}
          <input
            value={to}
            list="transfer-people"
            autocomplete="off"
            required
            onInput={({ currentTarget }) => setTo(currentTarget.value)}
          />
        </label>
        <datalist id="transfer-people">
          {shares.map(({ userId, userName }) => (
            <option key={userId} value={userId}>
              {userName ?? userId}
            </option>
          ))}
        </datalist>
        <Problem words={giving.problem} />
        <p class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {texts.cancel}
          </button>
          <button type="submit" class="danger" disabled={giving.isRunning}>
            {texts.transferButton}
          </button>
        </p>
      </form>
    </dialog>
  )
}
