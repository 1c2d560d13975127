/** The page that a browser shows for a share link. The token is in the URL fragment, which browsers do not send to a server. [SHARE-7] */
export const SHARE_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Shared document</title>
</head>
<body>
<h1>Shared document</h1>
<p>This address is a link to a shared document. It is opened in the editor: copy the whole address, sign in to the editor and open the link there.</p>
<p>The link works until it expires or its owner revokes it. Give it only to people who may read the document.</p>
</body>
</html>
`
