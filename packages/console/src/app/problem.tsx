import { Notice } from '../controls/notice.tsx'
import type { ErrorWords } from './error-texts.en.ts'

/** What went wrong and what helps; nothing while all is well. */
export function Problem({ words }: { readonly words: ErrorWords | null }) {
  if (words === null) return null
  return (
    <Notice kind="danger">
      <strong>{words.what}</strong> {words.help}
    </Notice>
  )
}
