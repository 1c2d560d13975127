import { Dialog } from '../controls/dialog.tsx'
import { canvasTexts as texts } from './canvas.en.ts'

/** The dialog that lists the keys of a canvas. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={texts.keysTitle} onClose={onClose}>
      <dl class="canvas-keys">
        {texts.keyList.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
