// The page at index.html: `#<relay>,<document>,<page>,<token>` in its address says what to open.
import { open, openPage, show } from './editor.ts'

const [relay = '', docId = '', pageId = '', token = ''] = decodeURIComponent(location.hash.slice(1)).split(',')
show(document.body, openPage(await open(relay, docId, token, 'Somebody'), pageId))
