// Search without a server. Browsers refuse to start a worker for a page that was opened from disk, so its script runs in a hidden
// frame of the same page. MkDocs Material has this from a CDN; the site loads nothing from other hosts.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.queue = [];
      const base = new URL(url, document.baseURI);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      // Firefox would replace the empty document after its load.
      inner.document.open();
      inner.document.write("<!doctype html><title>search</title>");
      inner.document.close();
      const script = (address) => new Promise((done, failed) => {
        const element = frame.contentDocument.createElement("script");
        element.src = new URL(address, base);
        element.onload = done;
        element.onerror = () => failed(new Error(`failed to load ${element.src}`));
        frame.contentDocument.head.append(element);
      });
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...addresses) =>
        addresses.reduce((loaded, address) => loaded.then(() => script(address)), Promise.resolve());
      script(base).then(() => {
        this.inner = inner;
        this.queue.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    postMessage(data) {
      if (this.inner) this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
      else this.queue.push(data);
    }
  };
}
