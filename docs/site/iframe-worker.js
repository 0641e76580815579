// The search of the site runs in a Worker, which a browser refuses to a page that was opened from disk. There, this runs the worker's
// script in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.loaded = new Promise((resolve) => { this.frame.onload = resolve; });
      this.frame.srcdoc = `<script>window.postMessage = (data) => window.answer(data);</script><script src="${url}"></script>`;
      document.body.append(this.frame);
    }
    postMessage(data) {
      this.loaded.then(() => {
        const inside = this.frame.contentWindow;
        inside.answer = (answer) => this.dispatchEvent(new MessageEvent("message", { data: answer }));
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }
  };
}
