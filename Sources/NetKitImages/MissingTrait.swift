#if !Images
// The package was resolved without the trait Images, so this module has no code. These declarations stand for the main
// types, so that a program that uses them gets an error that names the trait.

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum EncodedImage {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum Image {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum ImageDownloader {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum ImageFormat {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum ImageOptions {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum ImageRequest {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum ImageSlot {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public enum AutoPurgingImageCache {}

/// Requires the trait Images of the package.
@available(*, unavailable, message: "NetKitImages requires the trait Images: .package(…, traits: [\"Images\"])")
public protocol ImageCache {}
#endif
