// Lets a browser install the page. It keeps nothing: without its server the page says so.

addEventListener('fetch', () => {});
