export type FileCategory = 'pdf' | 'spreadsheet' | 'image' | 'audio' | 'video' | 'text' | 'generic'

const spreadsheets = /spreadsheet|ms-excel|^text\/(csv|tab-separated-values)$/
const endings: readonly (readonly [FileCategory, RegExp])[] = [
  ['pdf', /\.pdf$/i],
  ['spreadsheet', /\.(xlsx?|ods|csv|tsv)$/i],
  ['image', /\.(png|jpe?g|gif|webp|avif|svg|bmp|ico|tiff?)$/i],
  ['audio', /\.(mp3|wav|ogg|flac|m4a|aac|opus)$/i],
  ['video', /\.(mp4|webm|mov|mkv|avi|m4v)$/i],
  ['text', /\.(txt|md|json|ya?ml|xml|html?|log|css|js|ts)$/i],
]

/** Returns the category of a file by its MIME type. The end of its name decides when the type is empty or application/octet-stream. [FILE-7] */
export function categoryOf(mimeType: string, fileName: string): FileCategory {
  const type = mimeType.toLowerCase()
  if (type === 'application/pdf') return 'pdf'
  if (spreadsheets.test(type)) return 'spreadsheet'
  for (const kind of ['image', 'audio', 'video', 'text'] as const) if (type.startsWith(`${kind}/`)) return kind
  if (type === 'application/json' || type === 'application/xml') return 'text'
  if (type !== '' && type !== 'application/octet-stream') return 'generic'
  const tail = fileName.slice(-16)
  return endings.find(([, ending]) => ending.test(tail))?.[0] ?? 'generic'
}
