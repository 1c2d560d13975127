import { Notice } from '../controls/notice.tsx'
import type { ErrorWords } from './error-texts.en.ts'

/** Shows what went wrong and what helps; shows nothing for `null`. */
export function Problem({ words }: { readonly words: ErrorWords | null }) {
  if (words === null) return null
  return (
    <Notice kind="danger">
      <strong>{words.what}</strong> {words.help}
    </Notice>
  )
}
